-- $1 session id.
DELETE FROM spent WHERE session_id = $1;
