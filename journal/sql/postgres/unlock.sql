-- $1 key of an advisory lock of this session.
SELECT pg_advisory_unlock($1);
