-- $1 target, $2 after this session id. Row: the next session of which something there is to go: id, key.
SELECT s.session_id, (SELECT x.key FROM sessions AS x WHERE x.id = s.session_id)
FROM snapshots AS s WHERE s.target = $1 AND s.doomed = 1 AND s.session_id > $2 ORDER BY s.session_id LIMIT 1;
