-- $1 session id: what its data key sealed is erased with it. Row: key id.
DELETE FROM data_keys WHERE session_id = $1 RETURNING key_id;
