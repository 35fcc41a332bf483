-- $1 begun before, $2 how many at most. Rows: ids of sessions whose import was begun then, or gone on with last, and has
-- not ended.
SELECT session_id FROM imports WHERE begun_us < $1 ORDER BY session_id LIMIT $2;
