-- $1 session id. Row: how many blobs it has, and how many requests its threads remember.
SELECT (SELECT count(*) FROM blobs WHERE session_id = $1),
    (SELECT count(*) FROM requests WHERE log_id IN (SELECT id FROM threads WHERE session_id = $1));
