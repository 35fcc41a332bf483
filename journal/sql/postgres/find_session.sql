-- $1 key. Row: id, control, reducer_version, deleted_at_us.
SELECT id, control, reducer_version, deleted_at_us FROM sessions
WHERE key_digest = sha256(convert_to($1, 'UTF8'));
