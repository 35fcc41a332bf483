-- $1 session id, $2 SHA-256s as a JSON array. Rows: each of them under which bytes are stored.
SELECT sha256 FROM blobs WHERE session_id = $1 AND sha256 IN (SELECT value FROM json_each($2));
