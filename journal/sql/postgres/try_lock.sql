-- $1 key of an advisory lock. Row: whether this session has it now.
SELECT pg_try_advisory_lock($1);
