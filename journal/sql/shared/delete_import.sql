-- $1 session id.
DELETE FROM imports WHERE session_id = $1;
