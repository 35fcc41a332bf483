-- $1 thread id, $2 how many at most. Rows: one for each.
DELETE FROM turns WHERE turn_id IN (SELECT t.turn_id FROM turns AS t WHERE t.thread_id = $1 LIMIT $2)
RETURNING 1;
