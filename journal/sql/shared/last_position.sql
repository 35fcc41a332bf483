-- $1 session id. Row: the position of its last entry.
SELECT position FROM counters WHERE session_id = $1;
