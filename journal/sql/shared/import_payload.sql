-- $1 thread id, $2 seq, $3 salt, $4 body, $5 blob.
INSERT INTO payloads (thread_id, seq, salt, body, blob) VALUES ($1, $2, $3, $4, $5);
