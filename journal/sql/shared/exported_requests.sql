-- $1 log id, $2 after this request id, $3 how many at most. Rows: request_id, kind, content_digest, receipt.
SELECT request_id, kind, content_digest, receipt FROM requests
WHERE log_id = $1 AND request_id > $2 ORDER BY request_id LIMIT $3;
