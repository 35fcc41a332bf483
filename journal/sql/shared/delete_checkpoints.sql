-- $1 thread id.
DELETE FROM checkpoints WHERE thread_id = $1;
