-- $1 key, $2 tenant, $3 user_id, $4 session, $5 control, $6 reducer_version, $7 created_us.
-- Row: id; none when the key exists.
INSERT INTO sessions (key, tenant, user_id, session, control, reducer_version, created_us, updated_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (key) DO NOTHING
RETURNING id;
