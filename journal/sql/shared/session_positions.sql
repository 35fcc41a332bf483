-- $1 after this session id, $2 how many at most. Rows: id, key and position of those that are not deleted.
SELECT s.id, s.key, c.position FROM sessions AS s JOIN counters AS c ON c.session_id = s.id
WHERE s.id > $1 AND s.deleted_at_us IS NULL ORDER BY s.id LIMIT $2;
