-- $1 session id, $2 to $4 as in `turns_of_tenant`, $5 agent or '', $6 thread's name or '', $7 phase. Rows: as
-- `turns_of_tenant`.
SELECT t.turn_id, t.created_us, t.body, h.key, h.control, h.reducer_version, s.control, s.reducer_version, h.id
FROM (
    SELECT turn_id, created_us, body, thread_id, session_id FROM turns
    WHERE session_id = $1 AND phase = $7 AND (created_us, turn_id) < ($2, $3)
    ORDER BY created_us DESC, turn_id DESC
    LIMIT $4
) AS t
LEFT JOIN sessions AS s ON s.id = t.session_id
LEFT JOIN threads AS h ON h.id = t.thread_id AND s.id IS NOT NULL
    AND ($5 = '' OR h.agent = $5) AND ($6 = '' OR h.thread = $6)
ORDER BY t.created_us DESC, t.turn_id DESC;
