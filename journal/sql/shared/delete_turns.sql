-- $1 thread id.
DELETE FROM turns WHERE thread_id = $1;
