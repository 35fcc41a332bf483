-- $1 after this thread, $2 how many at most. Rows: their ids. What can be found of these is to be indexed anew.
UPDATE threads SET searched_seq = 0 WHERE id IN (SELECT t.id FROM threads AS t WHERE t.id > $1 ORDER BY t.id LIMIT $2)
RETURNING id;
