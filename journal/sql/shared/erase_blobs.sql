-- $1 session id, $2 how many at most. Rows: one for each.
DELETE FROM blobs WHERE session_id = $1 AND sha256 IN (
    SELECT b.sha256 FROM blobs AS b WHERE b.session_id = $1 ORDER BY b.sha256 LIMIT $2
)
RETURNING 1;
