-- $1 session id. Row: when its first entry was written.
SELECT at_us FROM entries WHERE session_id = $1 ORDER BY position LIMIT 1;
