-- $1 thread id, $2 turn id, $3 entry id, $4 after this seq. Row: as `read_entries`.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.body, p.blob, b.body
FROM entries AS e
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
WHERE e.thread_id = $1 AND e.turn_id = $2 AND e.entry_id = $3 AND e.seq > $4
ORDER BY e.seq
LIMIT 1;
