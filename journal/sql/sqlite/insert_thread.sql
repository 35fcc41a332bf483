-- $1 key, $2 session_id, $3 tenant, $4 agent, $5 thread, $6 hash, $7 at_us, $8 control, $9 reducer_version.
-- It stands at seq 0, epoch 0. Row: id; none when the key exists.
INSERT INTO threads (key, session_id, tenant, agent, thread, seq, hash, at_us, epoch, control, reducer_version)
VALUES ($1, $2, $3, $4, $5, 0, $6, $7, 0, $8, $9)
ON CONFLICT (key) DO NOTHING
RETURNING id;
