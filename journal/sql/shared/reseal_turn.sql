-- $1 thread id, $2 turn id, $3 body: the same as it is to be stored now.
UPDATE turns SET body = $3 WHERE turn_id = $2 AND thread_id = $1;
