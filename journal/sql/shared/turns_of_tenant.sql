-- $1 tenant, $2 phases as `,a,b,`, $3 and $4 before this creation and turn id, $5 how many at most, $6 agent or '',
-- $7 user: '' any, '-' anonymous, '+name'. Rows, newest first: turn id, created, body, the thread's key, control and
-- reducer version, the session's control and reducer version, the thread's id.
SELECT t.turn_id, t.created_us, t.body, h.key, h.control, h.reducer_version, s.control, s.reducer_version, h.id
FROM turns AS t
JOIN threads AS h ON h.id = t.thread_id
JOIN sessions AS s ON s.id = t.session_id
WHERE t.tenant = $1 AND $2 LIKE '%,' || t.phase || ',%' AND (t.created_us, t.turn_id) < ($3, $4)
    AND s.deleted_at_us IS NULL AND ($6 = '' OR h.agent = $6)
    AND ($7 = '' OR ($7 = '-' AND s.user_id IS NULL) OR $7 = '+' || s.user_id)
ORDER BY t.created_us DESC, t.turn_id DESC
LIMIT $5;
