-- $1 kind, $2 names, $3 the key of each one's advisory lock.
-- Row: name, whether its lock is held, age of its beat in seconds, its lease in seconds (null: no trace), and for how
-- many seconds the server has been there.
SELECT asked.name, locks.pid IS NOT NULL,
    extract(epoch FROM clock_timestamp() - presences.beat_at)::double precision, presences.lease_s,
    extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())::double precision
FROM unnest($2::text[], $3::bigint[]) AS asked (name, lock_key)
LEFT JOIN presences ON presences.kind = $1 AND presences.name = asked.name
LEFT JOIN pg_locks AS locks
    ON locks.locktype = 'advisory' AND locks.granted AND locks.objsubid = 1
    AND locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND locks.classid = ((asked.lock_key >> 32) & 4294967295)::oid
    AND locks.objid = (asked.lock_key & 4294967295)::oid;
