-- $1 thread id.
DELETE FROM interactions WHERE thread_id = $1;
