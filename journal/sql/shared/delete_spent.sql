-- $1 thread id.
DELETE FROM spent WHERE thread_id = $1;
