-- $1 session id. Row: the key of a thread of it that begins with a state of another session and was not made whole.
SELECT f.key FROM threads AS f
JOIN bases AS b ON b.thread_id = f.id AND b.whole_seq IS NULL
JOIN threads AS t ON t.id = b.origin_id AND t.session_id <> $1
WHERE f.session_id = $1 LIMIT 1;
