-- $1 how many at most: hints of threads without work.
DELETE FROM hints WHERE thread_id IN (
    SELECT h.thread_id FROM hints AS h JOIN threads AS t ON t.id = h.thread_id WHERE t.runnable = 0 LIMIT $1
);
