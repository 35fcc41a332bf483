-- $1 session id, $2 sha256. Row: body.
SELECT body FROM blobs WHERE session_id = $1 AND sha256 = $2;
