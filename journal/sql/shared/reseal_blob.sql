-- $1 session id, $2 sha256, $3 body: the same as it is to be stored now.
UPDATE blobs SET body = $3 WHERE session_id = $1 AND sha256 = $2;
