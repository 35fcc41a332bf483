-- $1 session id, $2 control of a session without content, $3 reducer version, $4 now. The key stays, so that nobody can
-- make the session again.
UPDATE sessions
SET deleted_at_us = $4, updated_us = $4, control = $2, reducer_version = $3, paused = 0, cancelled_seq = 0
WHERE id = $1;
