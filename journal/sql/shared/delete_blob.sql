-- $1 session id, $2 sha256.
DELETE FROM blobs WHERE session_id = $1 AND sha256 = $2;
