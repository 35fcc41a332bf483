-- $1 tenant, $2 before this id, $3 how many at most. Rows, newest first: id, key, control, reducer_version.
SELECT id, key, control, reducer_version FROM sessions
WHERE tenant = $1 AND id < $2 AND deleted_at_us IS NULL ORDER BY id DESC LIMIT $3;
