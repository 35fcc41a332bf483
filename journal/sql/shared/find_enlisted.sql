-- $1 turn id. Row: the thread's key, request id, when it was enlisted.
SELECT thread_key, request_id, enlisted_us FROM inbox WHERE turn_id = $1 ORDER BY id LIMIT 1;
