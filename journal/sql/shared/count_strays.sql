-- Rows: a table, and how many of its rows belong to no thread or session.
SELECT 'entries', count(*) FROM entries WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'payloads', count(*) FROM payloads WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'turns', count(*) FROM turns WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'requests', count(*) FROM requests WHERE log_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'threads', count(*) FROM threads WHERE session_id NOT IN (SELECT id FROM sessions);
