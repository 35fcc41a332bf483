-- $1 session id, $2 the data key, wrapped anew, $3 the name of what wraps it now.
UPDATE data_keys SET wrapped = $2, wrapped_by = $3 WHERE session_id = $1;
