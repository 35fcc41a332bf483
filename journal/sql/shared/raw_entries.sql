-- $1 thread id, $2 after this seq, $3 until this seq (included). Rows: seq, entry_id, type, version, position, at_us,
-- turn_id, run, step, epoch, required, prev_hash, hash, salt (null: no payload row), body, the blob's sha256, the blob's body.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.salt, p.body, p.blob, b.body
FROM entries AS e
LEFT JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
WHERE e.thread_id = $1 AND e.seq > $2 AND e.seq <= $3
ORDER BY e.seq;
