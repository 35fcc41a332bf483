-- $1 thread id, $2 reducer version. Rows: seq, body.
SELECT seq, body FROM checkpoints WHERE thread_id = $1 AND reducer_version = $2 ORDER BY seq;
