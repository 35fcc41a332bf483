-- $1 key. Locks the row for a session command, in the line of `share_session`.
-- Row: id, control, reducer_version, deleted_at_us.
WITH line AS MATERIALIZED (
    SELECT pg_advisory_xact_lock(hashtextextended($1, hashtext(current_schema())))
)
SELECT s.id, s.control, s.reducer_version, s.deleted_at_us FROM line, sessions AS s
WHERE s.key_digest = sha256(convert_to($1, 'UTF8')) FOR NO KEY UPDATE OF s;
