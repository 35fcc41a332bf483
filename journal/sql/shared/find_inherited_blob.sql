-- $1 session id, $2 sha256. Row: the bytes, kept with a session from which a thread of this one was forked, or one of
-- that from which that was.
WITH RECURSIVE reached (session_id) AS (
    SELECT t.session_id FROM threads AS f
    JOIN bases AS b ON b.thread_id = f.id
    JOIN threads AS t ON t.id = b.origin_id
    WHERE f.session_id = $1
    UNION
    SELECT t.session_id FROM reached AS r
    JOIN threads AS f ON f.session_id = r.session_id
    JOIN bases AS b ON b.thread_id = f.id
    JOIN threads AS t ON t.id = b.origin_id
)
SELECT b.body FROM reached AS r JOIN blobs AS b ON b.session_id = r.session_id AND b.sha256 = $2 LIMIT 1;
