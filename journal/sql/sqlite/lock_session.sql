-- $1 key. The one writer needs no lock. Row: id, control, reducer_version, deleted_at_us.
SELECT id, control, reducer_version, deleted_at_us FROM sessions WHERE key = $1;
