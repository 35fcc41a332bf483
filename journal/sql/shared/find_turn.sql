-- $1 turn id. Row: thread id, body.
SELECT thread_id, body FROM turns WHERE turn_id = $1;
