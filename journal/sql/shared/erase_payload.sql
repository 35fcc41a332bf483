-- $1 thread id, $2 seq, $3 the salted digest of what stood there.
UPDATE payloads SET salt = $3, body = NULL, blob = NULL WHERE thread_id = $1 AND seq = $2;
