-- $1 thread id, $2 target.
DELETE FROM snapshots WHERE thread_id = $1 AND target = $2;
