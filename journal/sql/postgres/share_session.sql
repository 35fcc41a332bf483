-- $1 key. Locks the row against session commands, for the append of a thread. Sharers overtake whoever waits to
-- lock a row alone, so a session with busy threads could not be paused: all take their turn in line before it.
-- Row: id, control, reducer_version, deleted_at_us.
WITH line AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared(hashtextextended($1, hashtext(current_schema())))
)
SELECT s.id, s.control, s.reducer_version, s.deleted_at_us FROM line, sessions AS s
WHERE s.key_digest = sha256(convert_to($1, 'UTF8')) FOR SHARE OF s;
