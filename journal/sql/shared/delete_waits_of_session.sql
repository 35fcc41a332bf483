-- $1 session id: the looks at threads that waited for what others reserved. None of them has a question with a deadline.
DELETE FROM deadlines WHERE thread_id IN (SELECT thread_id FROM spent WHERE session_id = $1 AND waits_us > 0);
