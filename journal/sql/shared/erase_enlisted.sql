-- $1 the thread's key. Rows: one for each.
DELETE FROM inbox WHERE thread_key = $1 RETURNING 1;
