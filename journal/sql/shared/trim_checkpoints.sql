-- $1 thread id, $2 reducer version. Keeps the last two.
DELETE FROM checkpoints
WHERE thread_id = $1 AND reducer_version = $2 AND seq NOT IN (
    SELECT seq FROM checkpoints WHERE thread_id = $1 AND reducer_version = $2 ORDER BY seq DESC LIMIT 2
);
