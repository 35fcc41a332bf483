-- $1 after this session id, $2 how many at most: those of which something may stand unsealed. Rows: session id, key.
SELECT s.id, s.key FROM sessions AS s
WHERE s.id > $1 AND s.deleted_at_us IS NULL
    AND NOT EXISTS (SELECT 1 FROM data_keys AS d WHERE d.session_id = s.id AND d.whole = 1)
ORDER BY s.id LIMIT $2;
