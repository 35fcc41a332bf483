-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM requests WHERE log_id = $1 AND request_id IN (
    SELECT r.request_id FROM requests AS r WHERE r.log_id = $1 ORDER BY r.request_id LIMIT $2
)
RETURNING 1;
