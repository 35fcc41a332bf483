-- $1 tenant, $2 before this id, $3 how many at most, $4 user. Rows: as `sessions_of_tenant`.
SELECT id, key, control, reducer_version FROM sessions
WHERE tenant = $1 AND user_id = $4 AND id < $2 AND deleted_at_us IS NULL ORDER BY id DESC LIMIT $3;
