-- $1 the thread's key, $2 its session's key, $3 turn id, or what stands for none, $4 request id, $5 the request as JSON,
-- $6 now.
INSERT INTO inbox (thread_key, session_key, turn_id, request_id, body, enlisted_us) VALUES ($1, $2, $3, $4, $5, $6);
