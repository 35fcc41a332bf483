-- $1 thread id, $2 after this seq, $3 how many entries at most, $4 how many bytes may stand before the last of them.
-- Row: the seq of the last entry of that page (null: there is none).
SELECT max(page.seq) FROM (
    SELECT sized.seq, sum(sized.bytes) OVER (ORDER BY sized.seq) - sized.bytes AS bytes_before FROM (
        SELECT e.seq, coalesce(b.size, length(p.body), 0) AS bytes
        FROM entries AS e
        LEFT JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
        LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
        WHERE e.thread_id = $1 AND e.seq > $2
        ORDER BY e.seq
        LIMIT $3
    ) AS sized
) AS page
WHERE page.bytes_before <= CAST($4 AS bigint);
