-- $1 key. Locks the row against session commands, for the append of a thread.
-- Row: id, control, reducer_version, deleted_at_us.
SELECT id, control, reducer_version, deleted_at_us FROM sessions
WHERE key_digest = sha256(convert_to($1, 'UTF8')) FOR SHARE;
