-- $1 thread id. Row: how many threads were forked from it.
SELECT count(*) FROM bases WHERE origin_id = $1 AND thread_id <> $1;
