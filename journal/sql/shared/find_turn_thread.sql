-- $1 turn id. Row: the key of its thread.
SELECT t.key FROM turns u JOIN threads t ON t.id = u.thread_id WHERE u.turn_id = $1;
