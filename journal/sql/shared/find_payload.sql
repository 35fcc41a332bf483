-- $1 thread id, $2 seq. Row: salt, body, the blob's sha256, the blob's body.
SELECT p.salt, p.body, p.blob, b.body
FROM payloads AS p
JOIN threads AS t ON t.id = p.thread_id
LEFT JOIN blobs AS b ON b.session_id = t.session_id AND b.sha256 = p.blob
WHERE p.thread_id = $1 AND p.seq = $2;
