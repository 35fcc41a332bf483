-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM interactions WHERE thread_id = $1 AND interaction_id IN (
    SELECT i.interaction_id FROM interactions AS i WHERE i.thread_id = $1 ORDER BY i.interaction_id LIMIT $2
)
RETURNING 1;
