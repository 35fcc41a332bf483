-- $1 thread id, $2 after this seq, $3 until this seq (included). Rows: seq, entry_id, type, version, position, at_us,
-- turn_id, run, step, epoch, required, prev_hash, hash, salt (null: no payload row), body, the blob's sha256, the blob's body.
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.salt, p.body, p.blob, b.body
FROM entries AS e
LEFT JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p ON true
LEFT JOIN LATERAL (
    SELECT * FROM blobs WHERE session_id = e.session_id AND sha256 = p.blob LIMIT 1
) AS b ON true
WHERE e.thread_id = $1 AND e.seq > $2 AND e.seq <= $3
ORDER BY e.seq;
