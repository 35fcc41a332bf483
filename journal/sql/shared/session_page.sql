-- $1 after this session id, $2 how many at most. Rows: id, key.
SELECT id, key FROM sessions WHERE id > $1 ORDER BY id LIMIT $2;
