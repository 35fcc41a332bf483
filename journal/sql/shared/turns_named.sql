-- $1 tenant, $2 beginning of a turn id, $3 behind every id that begins so, $4 how many at most, $5 user: '' any,
-- '-' anonymous, '+name'. The tenant is compared in a way that no index serves, else all of its turns would be looked at.
-- Rows: turn id, the thread's key.
SELECT t.turn_id, h.key
FROM turns AS t
JOIN threads AS h ON h.id = t.thread_id
JOIN sessions AS s ON s.id = t.session_id
WHERE t.turn_id >= $2 AND t.turn_id <= $3 AND substr(t.turn_id, 1, length($2)) = $2
    AND t.tenant || '' = $1 AND s.deleted_at_us IS NULL
    AND ($5 = '' OR coalesce('+' || s.user_id, '-') = $5)
ORDER BY t.turn_id
LIMIT $4;
