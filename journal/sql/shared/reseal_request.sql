-- $1 log id, $2 request id, $3 digest of the content, $4 receipt: the same as they are to be stored now.
UPDATE requests SET content_digest = $3, receipt = $4 WHERE log_id = $1 AND request_id = $2;
