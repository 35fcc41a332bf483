-- Rows: a table, and how many of its rows belong to nothing.
SELECT 'entries', count(*) FROM entries WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'payloads', count(*) FROM payloads AS p
    WHERE NOT EXISTS (SELECT 1 FROM entries AS e WHERE e.thread_id = p.thread_id AND e.seq = p.seq)
UNION ALL SELECT 'texts', count(*) FROM texts WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'turns', count(*) FROM turns WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'requests', count(*) FROM requests WHERE log_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'checkpoints', count(*) FROM checkpoints WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'deadlines', count(*) FROM deadlines WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'interactions', count(*) FROM interactions WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'spent', count(*) FROM spent WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'bases', count(*) FROM bases WHERE thread_id NOT IN (SELECT id FROM threads)
UNION ALL SELECT 'tombstones', count(*) FROM tombstones WHERE session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT 'threads', count(*) FROM threads WHERE session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT 'counters', count(*) FROM counters WHERE session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT 'blobs', count(*) FROM blobs WHERE session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT 'imports', count(*) FROM imports WHERE session_id NOT IN (SELECT id FROM sessions)
UNION ALL SELECT 'webhooks', count(*) FROM webhooks WHERE session_id NOT IN (SELECT id FROM sessions);
