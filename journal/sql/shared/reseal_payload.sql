-- $1 thread id, $2 seq, $3 salt, $4 body, $5 blob: the same content as it is to be stored now.
UPDATE payloads SET salt = $3, body = $4, blob = $5 WHERE thread_id = $1 AND seq = $2;
