-- $1 session id, $2 after this position, $3 until this position (included), $4 how many at most. Rows: as `read_entries`, then the thread's key.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.body, p.blob, b.body, t.key
FROM entries AS e
JOIN threads AS t ON t.id = e.thread_id
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
WHERE e.session_id = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position
LIMIT $4;
