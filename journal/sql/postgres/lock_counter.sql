-- $1 session id. Locks its counter until the transaction ends. Row: its position.
SELECT position FROM counters WHERE session_id = $1 FOR NO KEY UPDATE;
