-- $1 session id. Row: key id.
SELECT key_id FROM data_keys WHERE session_id = $1;
