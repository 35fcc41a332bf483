-- $1 tenant, $2 interaction id. The tenant is compared in a way that no index serves, else all of its questions would
-- be looked at. Row: the thread's key, its id, then as `find_interaction`; the newest, should two threads have it.
SELECT h.key, h.id, i.interaction_id, i.turn_id, i.kind, i.call_id, i.tool, i.state, i.resolution, i.principal,
    i.asked_seq, i.settled_seq, i.asked_us, i.settled_us, i.deadline_us
FROM interactions AS i
JOIN threads AS h ON h.id = i.thread_id
JOIN sessions AS s ON s.id = i.session_id
WHERE i.interaction_id = $2 AND i.tenant || '' = $1 AND s.deleted_at_us IS NULL
ORDER BY i.asked_us DESC
LIMIT 1;
