-- $1 thread id, $2 how many at most. Row: how many threads were forked, directly or not, from the one that this one and
-- its origins all came from.
WITH RECURSIVE above (id) AS (
    SELECT CAST($1 AS bigint)
    UNION
    SELECT t.id FROM above AS a
    JOIN bases AS b ON b.thread_id = a.id AND b.seq = 1
    JOIN threads AS t ON t.id = b.origin_id
),
below (id) AS (
    SELECT a.id FROM above AS a WHERE NOT EXISTS (
        SELECT 1 FROM bases AS b JOIN threads AS t ON t.id = b.origin_id WHERE b.thread_id = a.id AND b.seq = 1
    )
    UNION
    SELECT b.thread_id FROM below AS o JOIN bases AS b ON b.origin_id = o.id AND b.thread_id <> o.id
)
SELECT count(*) - 1 FROM (SELECT id FROM below LIMIT $2 + 1) AS counted;
