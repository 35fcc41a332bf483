-- $1 key. Row: id, seq, total_bytes of the thread, also of one of a session that is hidden.
SELECT id, seq, total_bytes FROM threads WHERE key = $1;
