-- $1 session id, $2 after this position, $3 until this position (included). Rows by position: the thread's id, seq,
-- entry_id, type, version, position, at_us, turn_id, run, step, epoch, required, hash, salt, body, the blob's sha256.
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT e.thread_id, e.seq, e.entry_id, e.type, e.version, e.position, e.at_us, e.turn_id, e.run, e.step, e.epoch, e.required,
    e.hash, p.salt, p.body, p.blob
FROM entries AS e
CROSS JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p
WHERE e.session_id = $1 AND e.position > $2 AND e.position <= $3
ORDER BY e.position;
