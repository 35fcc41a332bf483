-- $1 session id, $2 how many. Rows: id of a turn with an open question, those that have waited longest first.
SELECT i.turn_id FROM interactions AS i
WHERE i.session_id = $1 AND i.state = 'open'
ORDER BY i.asked_us, i.thread_id, i.interaction_id
LIMIT $2;
