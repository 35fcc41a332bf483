-- $1 thread id, $2 seq. Row: the entry's hash, which stands for all up to it.
SELECT hash FROM entries WHERE thread_id = $1 AND seq = $2;
