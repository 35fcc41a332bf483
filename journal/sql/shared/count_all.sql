-- Rows: a name and a number.
SELECT 'sessions', count(*) FROM sessions WHERE deleted_at_us IS NULL
UNION ALL SELECT 'sessions_paused', count(*) FROM sessions WHERE paused = 1 AND deleted_at_us IS NULL
UNION ALL SELECT 'threads', count(*) FROM threads WHERE agent <> ''
UNION ALL SELECT 'threads_with_work', count(*) FROM threads WHERE runnable = 1
UNION ALL SELECT 'threads_to_index', count(*) FROM threads WHERE searched_seq < seq
UNION ALL SELECT 'texts', count(*) FROM texts
UNION ALL SELECT 'entries', CAST(coalesce(sum(seq), 0) AS bigint) FROM threads
UNION ALL SELECT 'entry_bytes', CAST(coalesce(sum(total_bytes), 0) AS bigint) FROM threads
UNION ALL SELECT 'blobs', count(*) FROM blobs
UNION ALL SELECT 'blob_bytes', CAST(coalesce(sum(size), 0) AS bigint) FROM blobs
UNION ALL SELECT 'checkpoints', count(*) FROM checkpoints
UNION ALL SELECT 'requests', count(*) FROM requests
UNION ALL SELECT 'questions_open', count(*) FROM interactions WHERE state = 'open';
