-- $1 the thread's key, $2 its session's key, $3 turn id, or what stands for none, $4 request id, $5 the request as JSON,
-- $6 now.
INSERT INTO inbox (thread_key, key_digest, session_key, turn_id, request_id, body, enlisted_us)
VALUES ($1, sha256(convert_to($1, 'UTF8')), $2, $3, $4, $5, $6);
