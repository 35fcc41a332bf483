-- $1 thread id, $2 target. Row: up to which entry the thread's state was brought there.
SELECT seq FROM snapshots WHERE thread_id = $1 AND target = $2;
