-- $1 thread id, $2 seq, $3 reducer version, $4 body.
INSERT INTO checkpoints (thread_id, seq, reducer_version, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;
