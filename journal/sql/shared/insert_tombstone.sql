-- $1 session id, $2 request id, $3 principal, $4 reason, $5 now (microseconds), $6 counts as JSON.
INSERT INTO tombstones (session_id, request_id, principal, reason, deleted_us, counts) VALUES ($1, $2, $3, $4, $5, $6);
