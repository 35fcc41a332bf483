-- $1 tenant, $2 state or '', $3 to $5 after this asking time, thread id and interaction id, $6 how many at most,
-- $7 agent or '', $8 thread's name or '', $9 kind or '', $10 tool or '', $11 user: '' any, '-' anonymous, '+name'. Rows, oldest
-- first: the thread's key, then as `find_interaction`, then the thread's id, and of the entry that asked the version, the body, and
-- the sha256 of the blob that has it instead.
SELECT h.key, i.interaction_id, i.turn_id, i.kind, i.call_id, i.tool, i.state, i.resolution, i.principal, i.asked_seq,
    i.settled_seq, i.asked_us, i.settled_us, i.deadline_us, i.thread_id,
    (SELECT e.version FROM entries AS e WHERE e.thread_id = i.thread_id AND e.seq = i.asked_seq),
    (SELECT p.body FROM payloads AS p WHERE p.thread_id = i.thread_id AND p.seq = i.asked_seq),
    (SELECT p.blob FROM payloads AS p WHERE p.thread_id = i.thread_id AND p.seq = i.asked_seq)
FROM interactions AS i
JOIN threads AS h ON h.id = i.thread_id
JOIN sessions AS s ON s.id = i.session_id
WHERE i.tenant = $1 AND ($2 = '' OR i.state = $2) AND (i.asked_us, i.thread_id, i.interaction_id) > ($3, $4, $5)
    AND s.deleted_at_us IS NULL AND ($7 = '' OR h.agent = $7) AND ($8 = '' OR h.thread = $8)
    AND ($9 = '' OR i.kind = $9) AND ($10 = '' OR i.tool = $10)
    AND ($11 = '' OR ($11 = '-' AND s.user_id IS NULL) OR $11 = '+' || s.user_id)
ORDER BY i.asked_us, i.thread_id, i.interaction_id
LIMIT $6;
