-- $1 thread id, $2 turn id, $3 from this seq, $4 before this seq of an entry of the wanted step. Rows: as `read_entries`;
-- what the step's model answered, what was decided about its calls and when these started, the newest first. A step's calls
-- come after its answer, so nothing before that is read.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash,
    (SELECT p.body FROM payloads AS p WHERE p.thread_id = e.thread_id AND p.seq = e.seq),
    (SELECT p.blob FROM payloads AS p WHERE p.thread_id = e.thread_id AND p.seq = e.seq),
    (SELECT b.body FROM blobs AS b WHERE b.session_id = e.session_id
        AND b.sha256 = (SELECT p.blob FROM payloads AS p WHERE p.thread_id = e.thread_id AND p.seq = e.seq))
FROM entries AS e
WHERE e.thread_id = $1 AND e.seq < $4 AND e.turn_id = $2
    AND e.seq >= coalesce((
        SELECT m.seq FROM entries AS m
        WHERE m.thread_id = $1 AND m.seq >= $3 AND m.seq < $4 AND m.turn_id = $2 AND m.type = 'model.responded'
            AND m.step = (SELECT a.step FROM entries AS a WHERE a.thread_id = $1 AND a.seq = $4)
        ORDER BY m.seq DESC LIMIT 1
    ), $3)
    AND e.step = (SELECT a.step FROM entries AS a WHERE a.thread_id = $1 AND a.seq = $4)
    AND e.type IN ('model.responded', 'tool.decided', 'tool.started')
ORDER BY e.seq DESC;
