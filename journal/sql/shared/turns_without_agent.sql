-- What older code added, and has no agent of its own. $1 tenant, $2 to $4 as in `turns_of_tenant`, $5 agent or '', $6 user as
-- there, $7 phases as `,a,b,`. Rows: as `turns_of_tenant`.
SELECT t.turn_id, t.created_us, t.body, h.key, h.control, h.reducer_version, s.control, s.reducer_version, h.id
FROM (
    SELECT turn_id, created_us, phase, body, thread_id, session_id FROM turns
    WHERE tenant = $1 AND agent IS NULL AND (created_us, turn_id) < ($2, $3)
    ORDER BY created_us DESC, turn_id DESC
    LIMIT $4
) AS t
LEFT JOIN sessions AS s ON s.id = t.session_id AND s.deleted_at_us IS NULL
    AND ($6 = '' OR ($6 = '-' AND s.user_id IS NULL) OR $6 = '+' || s.user_id)
LEFT JOIN threads AS h ON h.id = t.thread_id AND s.id IS NOT NULL AND ($5 = '' OR h.agent = $5)
    AND $7 LIKE '%,' || t.phase || ',%'
ORDER BY t.created_us DESC, t.turn_id DESC;
