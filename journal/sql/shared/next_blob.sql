-- $1 session id, $2 after this sha256. Row: sha256 and body of the next one.
SELECT sha256, body FROM blobs WHERE session_id = $1 AND sha256 > $2 ORDER BY sha256 LIMIT 1;
