-- $1 key, $2 tenant, $3 user_id, $4 session, $5 control, $6 reducer_version, $7 created_us.
-- Row: id; none when the key exists.
INSERT INTO sessions (key, key_digest, tenant, user_id, session, control, reducer_version, created_us, updated_us)
VALUES ($1, sha256(convert_to($1, 'UTF8')), $2, $3, $4, $5, $6, $7, $7)
ON CONFLICT (key_digest) DO NOTHING
RETURNING id;
