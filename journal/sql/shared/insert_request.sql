-- $1 log id, $2 request id, $3 kind, $4 digest of the content, $5 receipt.
INSERT INTO requests (log_id, request_id, kind, content_digest, receipt) VALUES ($1, $2, $3, $4, $5);
