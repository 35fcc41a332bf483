-- $1 session id. Row: key, control, reducer_version, paused, cancelled_seq, deleted_at_us.
SELECT key, control, reducer_version, paused, cancelled_seq, deleted_at_us FROM sessions WHERE id = $1;
