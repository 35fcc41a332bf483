-- $1 session id. The one writer needs no lock. Row: its position.
SELECT position FROM counters WHERE session_id = $1;
