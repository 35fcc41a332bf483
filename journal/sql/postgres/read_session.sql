-- $1 session id, $2 after this position, $3 until this position (included), $4 how many at most. Rows: as `read_entries`, then the thread's key.
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.prev_hash, e.hash, p.body, p.blob, b.body, t.key
FROM entries AS e
CROSS JOIN LATERAL (SELECT key FROM threads WHERE id = e.thread_id LIMIT 1) AS t
CROSS JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p
LEFT JOIN LATERAL (
    SELECT * FROM blobs WHERE session_id = e.session_id AND sha256 = p.blob LIMIT 1
) AS b ON true
WHERE e.session_id = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position
LIMIT $4;
