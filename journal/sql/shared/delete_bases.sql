-- $1 thread id.
DELETE FROM bases WHERE thread_id = $1;
