-- $1 turn id, $2 thread id. Row: the key of another thread that has a turn of that id.
SELECT t.key FROM turns AS u JOIN threads AS t ON t.id = u.thread_id WHERE u.turn_id = $1 AND u.thread_id <> $2;
