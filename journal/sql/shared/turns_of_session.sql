-- $1 session id, $2 to $6 and the rows as in `turns_of_tenant`, $7 thread's name or ''.
SELECT t.turn_id, t.created_us, t.body, h.key, h.control, h.reducer_version, s.control, s.reducer_version, h.id
FROM turns AS t
JOIN threads AS h ON h.id = t.thread_id
JOIN sessions AS s ON s.id = t.session_id
WHERE t.session_id = $1 AND $2 LIKE '%,' || t.phase || ',%' AND (t.created_us, t.turn_id) < ($3, $4)
    AND ($6 = '' OR h.agent = $6) AND ($7 = '' OR h.thread = $7)
ORDER BY t.created_us DESC, t.turn_id DESC
LIMIT $5;
