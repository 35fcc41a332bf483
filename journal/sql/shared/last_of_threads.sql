-- $1 after this thread id, $2 how many at most. Row: the last id of that page, and how many it has.
SELECT max(t.id), count(*) FROM (SELECT id FROM threads WHERE id > $1 ORDER BY id LIMIT $2) AS t;
