-- $1 the session's key, $2 how many at most. Rows: keys of threads that something was enlisted for.
SELECT DISTINCT thread_key FROM inbox WHERE session_key = $1 LIMIT $2;
