-- $1 thread id.
DELETE FROM hints WHERE thread_id = $1;
