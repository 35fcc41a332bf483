-- $1 session id. Row: of how many states something is still outside.
SELECT count(*) FROM snapshots WHERE session_id = $1;
