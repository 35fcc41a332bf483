-- $1 log id, $2 request id. Row: kind, digest of the content, receipt.
SELECT kind, content_digest, receipt FROM requests WHERE log_id = $1 AND request_id = $2;
