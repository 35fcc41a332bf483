-- $1 beginning of a turn id, $2 behind every id that begins so, $3 how the keys of the threads begin, $4 how many at most.
-- Rows: turn id, the thread's key.
SELECT DISTINCT turn_id, thread_key FROM inbox
WHERE turn_id >= $1 AND turn_id <= $2 AND substr(turn_id, 1, length($1)) = $1
    AND substr(thread_key, 1, length($3)) = $3
ORDER BY turn_id
LIMIT $4;
