-- $1 thread id, $2 after this seq, $3 how many entries at most, $4 how many bytes may stand before the last of them.
-- Row: the seq of the last entry of that page (null: there is none).
-- LATERAL with LIMIT: each row is looked up by its whole key. A join is planned once, perhaps while the tables are
-- empty, and then reads all of a thread's payloads for each of its entries.
SELECT max(page.seq) FROM (
    SELECT sized.seq, sum(sized.bytes) OVER (ORDER BY sized.seq) - sized.bytes AS bytes_before FROM (
        SELECT e.seq, coalesce(b.size, length(p.body), 0) AS bytes
        FROM entries AS e
        LEFT JOIN LATERAL (
            SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
        ) AS p ON true
        LEFT JOIN LATERAL (
            SELECT * FROM blobs WHERE session_id = e.session_id AND sha256 = p.blob LIMIT 1
        ) AS b ON true
        WHERE e.thread_id = $1 AND e.seq > $2
        ORDER BY e.seq
        LIMIT $3
    ) AS sized
) AS page
WHERE page.bytes_before <= CAST($4 AS bigint);
