-- $1 session id, $2 webhook id, $3 URL, $4 secret: the same as they are to be stored now.
UPDATE webhooks SET url = $3, secret = $4 WHERE webhook_id = $2 AND session_id = $1;
