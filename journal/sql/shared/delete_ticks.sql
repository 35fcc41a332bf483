-- $1 thread id: before they are written anew.
DELETE FROM ticks WHERE thread_id = $1;
