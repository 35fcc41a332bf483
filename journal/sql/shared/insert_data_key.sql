-- $1 session id, $2 key id, $3 the key, wrapped, $4 name of what wraps it, $5 whether all of the session is sealed (1) or some
-- may not be yet (0). Row: the session id; none when it has a data key already.
INSERT INTO data_keys (session_id, key_id, wrapped, wrapped_by, whole) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (session_id) DO NOTHING
RETURNING session_id;
