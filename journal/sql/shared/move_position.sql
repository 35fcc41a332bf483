-- $1 session id, $2 the position its counter is at now.
UPDATE counters SET position = $2 WHERE session_id = $1;
