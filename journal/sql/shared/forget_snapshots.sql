-- $1 thread id. What was brought outside of it holds what was erased now, and is to be written anew;
-- another number each time, so that who brought it before the last erasure sees that.
UPDATE snapshots SET seq = CASE WHEN seq < 0 THEN seq - 1 ELSE -1 END WHERE thread_id = $1;
