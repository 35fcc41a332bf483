-- $1 after this session id, $2 not those that the key of this name wraps, $3 how many at most.
-- Rows: session id, key id, the key, wrapped, the name of what wraps it.
SELECT session_id, key_id, wrapped, wrapped_by FROM data_keys
WHERE session_id > $1 AND wrapped_by <> $2 ORDER BY session_id LIMIT $3;
