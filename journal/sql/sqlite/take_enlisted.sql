-- $1 id, $2 the thread's key. Row: one, unless somebody took it before.
DELETE FROM inbox WHERE id = $1 AND thread_key = $2 RETURNING 1;
