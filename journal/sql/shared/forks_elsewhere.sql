-- $1 session id, $2 how many at most. Rows: key of each thread of another session that begins with a state of this one and
-- was not made whole.
SELECT f.key FROM threads AS t
JOIN bases AS b ON b.origin_id = t.id AND b.whole_seq IS NULL
JOIN threads AS f ON f.id = b.thread_id AND f.session_id <> $1
JOIN sessions AS s ON s.id = f.session_id AND s.deleted_at_us IS NULL
WHERE t.session_id = $1 ORDER BY f.id LIMIT $2;
