-- $1 session id: nothing of it is left unsealed.
UPDATE data_keys SET whole = 1 WHERE session_id = $1;
