-- $1 thread id, $2 seq. Row: type, version, salt, body, the blob's sha256, the blob's body.
SELECT e.type, e.version, p.salt, p.body, p.blob, b.body
FROM entries AS e
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
WHERE e.thread_id = $1 AND e.seq = $2;
