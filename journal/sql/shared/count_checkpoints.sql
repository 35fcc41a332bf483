-- $1 thread id. Row: how many checkpoints it has.
SELECT count(*) FROM checkpoints WHERE thread_id = $1;
