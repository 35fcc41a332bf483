-- $1 thread id, $2 turn id, $3 entry id, $4 after this seq. Row: as `read_entries`.
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.body, p.blob, b.body
FROM entries AS e
CROSS JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p
LEFT JOIN LATERAL (
    SELECT * FROM blobs WHERE session_id = e.session_id AND sha256 = p.blob LIMIT 1
) AS b ON true
WHERE e.thread_id = $1 AND e.turn_id = $2 AND e.entry_id = $3 AND e.seq > $4
ORDER BY e.seq
LIMIT 1;
