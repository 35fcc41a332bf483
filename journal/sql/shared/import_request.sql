-- As `insert_request`; one that is there stays as it is.
INSERT INTO requests (log_id, request_id, kind, content_digest, receipt) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING;
