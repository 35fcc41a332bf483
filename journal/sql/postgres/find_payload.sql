-- $1 thread id, $2 seq. Row: type, version, salt, body, the blob's sha256, the blob's body.
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT e.type, e.version, p.salt, p.body, p.blob, b.body
FROM entries AS e
CROSS JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p
LEFT JOIN LATERAL (
    SELECT * FROM blobs WHERE session_id = e.session_id AND sha256 = p.blob LIMIT 1
) AS b ON true
WHERE e.thread_id = $1 AND e.seq = $2;
