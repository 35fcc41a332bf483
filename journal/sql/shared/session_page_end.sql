-- $1 session id, $2 after this position, $3 how many entries at most, $4 how many bytes may stand before the last of
-- them. Row: the position of the last entry of that page (null: there is none).
SELECT max(page.position) FROM (
    SELECT sized.position, sum(sized.bytes) OVER (ORDER BY sized.position) - sized.bytes AS bytes_before FROM (
        SELECT e.position, coalesce(b.size, length(p.body), 0) AS bytes
        FROM entries AS e
        LEFT JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq
        LEFT JOIN blobs AS b ON b.session_id = e.session_id AND b.sha256 = p.blob
        WHERE e.session_id = $1 AND e.position > $2
        ORDER BY e.position
        LIMIT $3
    ) AS sized
) AS page
WHERE page.bytes_before <= CAST($4 AS bigint);
