-- $1 after this session id, $2 how many at most. Rows: ids of deleted sessions of which something is left.
SELECT session_id FROM tombstones WHERE erased_us IS NULL AND session_id > $1 ORDER BY session_id LIMIT $2;
