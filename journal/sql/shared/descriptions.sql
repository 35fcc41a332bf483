-- $1 id of a session's log, $2 after which seq, $3 how many. Rows: the seq of each title and summary in it that is not erased.
SELECT e.seq FROM entries AS e
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
WHERE e.thread_id = $1 AND e.type IN ('session.titled', 'session.summarised') AND e.seq > $2
    AND (p.body IS NOT NULL OR p.blob IS NOT NULL)
ORDER BY e.seq LIMIT $3;
