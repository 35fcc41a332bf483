-- $1 session ids as a JSON array. Rows: id, created, updated, threads, active turns, queued turns, time and position of its
-- last entry.
SELECT s.id, s.created_us, s.updated_us, count(h.id) FILTER (WHERE h.agent <> ''), count(h.active_turn),
    coalesce(sum(h.queued), 0), coalesce(max(h.at_us), s.created_us), c.position
FROM sessions AS s
JOIN counters AS c ON c.session_id = s.id
LEFT JOIN threads AS h ON h.session_id = s.id
WHERE s.id IN (SELECT value FROM json_each($1))
GROUP BY s.id, s.created_us, s.updated_us, c.position;
