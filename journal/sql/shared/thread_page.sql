-- $1 after this thread id, $2 how many at most. Rows: id, key.
SELECT id, key FROM threads WHERE id > $1 ORDER BY id LIMIT $2;
