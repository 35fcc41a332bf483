-- $1 after this id, $2 how many at most. Rows: id, the thread's key.
SELECT id, thread_key FROM inbox WHERE id > $1 ORDER BY id LIMIT $2;
