-- $1 session id, $2 after this thread id, $3 how many at most. Rows of all its threads, its log too, as they were made: id,
-- key, seq, hash, control, reducer_version, whether content of it was erased (1) or not (0).
SELECT t.id, t.key, t.seq, t.hash, t.control, t.reducer_version,
    CASE WHEN EXISTS (SELECT 1 FROM entries AS e WHERE e.thread_id = t.id AND e.type = 'entry.erased') THEN 1 ELSE 0 END
FROM threads AS t WHERE t.session_id = $1 AND t.id > $2 ORDER BY t.id LIMIT $3;
