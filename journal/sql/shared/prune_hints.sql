-- $1 how many at most: hints of threads without work, or gone.
DELETE FROM hints WHERE thread_id IN (
    SELECT h.thread_id FROM hints AS h LEFT JOIN threads AS t ON t.id = h.thread_id
    WHERE t.id IS NULL OR t.runnable = 0 LIMIT $1
);
