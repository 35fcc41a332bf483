-- $1 session id, $2 after this position, $3 until this position (included). Rows by position: the thread's id, seq,
-- entry_id, type, version, position, at_us, turn_id, run, step, epoch, required, hash, salt, body, the blob's sha256.
SELECT e.thread_id, e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.hash, p.salt, p.body, p.blob
FROM entries AS e
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
WHERE e.session_id = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position;
