-- $1 thread id.
DELETE FROM deadlines WHERE thread_id = $1;
