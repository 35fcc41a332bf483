-- $1 thread id. Row: its session's id.
SELECT session_id FROM threads WHERE id = $1;
