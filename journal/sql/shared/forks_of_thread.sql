-- $1 thread id, $2 at this seq or later. Rows: key and id of each thread forked there, and the seq it was forked at.
SELECT t.key, t.id, b.at_seq FROM bases AS b JOIN threads AS t ON t.id = b.thread_id
WHERE b.origin_id = $1 AND b.at_seq >= $2 AND b.thread_id <> $1 ORDER BY t.key;
