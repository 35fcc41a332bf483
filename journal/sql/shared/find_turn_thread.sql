-- $1 turn id. Row: the key of its thread.
SELECT t.key FROM turns AS u
JOIN threads AS t ON t.id = u.thread_id
JOIN sessions AS s ON s.id = t.session_id
WHERE u.turn_id = $1 AND s.deleted_at_us IS NULL;
