-- $1 session id, $2 'open', $3 to $11 and the rows as in `inbox_of_tenant`.
SELECT h.key, i.interaction_id, i.turn_id, i.kind, i.call_id, i.tool, i.state, i.resolution, i.principal, i.asked_seq,
    i.settled_seq, i.asked_us, i.settled_us, i.deadline_us, i.thread_id,
    (SELECT e.version FROM entries AS e WHERE e.thread_id = i.thread_id AND e.seq = i.asked_seq),
    (SELECT p.body FROM payloads AS p WHERE p.thread_id = i.thread_id AND p.seq = i.asked_seq),
    (SELECT p.blob FROM payloads AS p WHERE p.thread_id = i.thread_id AND p.seq = i.asked_seq)
FROM interactions AS i
JOIN threads AS h ON h.id = i.thread_id
JOIN sessions AS s ON s.id = i.session_id
WHERE i.session_id = $1 AND i.state = 'open' AND $2 <> '' AND (i.asked_us, i.thread_id, i.interaction_id) > ($3, $4, $5)
    AND s.deleted_at_us IS NULL AND ($7 = '' OR h.agent = $7) AND ($8 = '' OR h.thread = $8)
    AND ($9 = '' OR i.kind = $9) AND ($10 = '' OR i.tool = $10)
    AND ($11 = '' OR ($11 = '-' AND s.user_id IS NULL) OR $11 = '+' || s.user_id)
ORDER BY i.asked_us, i.thread_id, i.interaction_id
LIMIT $6;
