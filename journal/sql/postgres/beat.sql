-- $1 kind, $2 name, $3 info, $4 lease in seconds.
INSERT INTO presences (kind, name, info, lease_s, beat_at)
VALUES ($1, $2, $3, $4, clock_timestamp())
ON CONFLICT (kind, name) DO UPDATE
SET info = excluded.info, lease_s = excluded.lease_s, beat_at = excluded.beat_at;
