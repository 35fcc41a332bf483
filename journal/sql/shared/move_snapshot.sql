-- $1 thread id, $2 target, $3 the entry it was at, $4 the one it is at now, $5 the version of states, $6 the active turn.
-- Row: one if it was still there.
UPDATE snapshots SET seq = $4, reducer_version = $5, turn_id = $6
WHERE thread_id = $1 AND target = $2 AND seq = $3 AND doomed = 0
RETURNING 1;
