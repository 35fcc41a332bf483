-- $1 thread id, $2 turn id, $3 and $4 entry ids. Row: the seq of the first that is there.
SELECT seq FROM entries WHERE thread_id = $1 AND turn_id = $2 AND entry_id IN ($3, $4) ORDER BY seq LIMIT 1;
