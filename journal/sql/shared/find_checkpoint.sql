-- $1 thread id, $2 reducer version, $3 not after this seq. Row: seq, body of the newest.
SELECT seq, body FROM checkpoints WHERE thread_id = $1 AND reducer_version = $2 AND seq <= $3 ORDER BY seq DESC LIMIT 1;
