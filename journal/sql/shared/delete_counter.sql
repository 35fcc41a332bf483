-- $1 session id.
DELETE FROM counters WHERE session_id = $1;
