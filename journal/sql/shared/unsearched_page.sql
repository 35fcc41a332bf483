-- $1 after this thread, $2 how many at most. Rows of all threads, by id: id, and the key if not all of it can be found.
SELECT id, CASE WHEN searched_seq < seq THEN key END FROM threads WHERE id > $1 ORDER BY id LIMIT $2;
