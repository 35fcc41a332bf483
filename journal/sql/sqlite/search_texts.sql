-- $1 owner, $2 what must occur and $3 what must not (JSON, as `transact/searching.py` writes it), $4 tenant, $5 user as
-- in a filter, $6 session id (0: any), $7 up to this id, $8 how many at most. Rows, newest first: id, thread id, the
-- thread's key, seq, number of words, and how often each of what must occur does (JSON).
SELECT t.id, t.thread_id, h.key, t.seq, t.size, (
    SELECT json_group_array((length(t.words) - length(replace(t.words, n.needle, ''))) / length(n.needle))
    FROM (SELECT json_extract(value, '$.needle') AS needle FROM json_each($2)) AS n
)
FROM (
    SELECT rowid AS id FROM text_words
    WHERE text_words MATCH (
        '(owners : "' || $1 || '"' || (
            SELECT group_concat(' AND words : "' || json_extract(value, '$.phrase') || '"'
                || CASE WHEN json_extract(value, '$.begins') THEN ' *' ELSE '' END, '')
            FROM json_each($2)
        ) || ')' || coalesce(' NOT (' || (
            SELECT group_concat('words : "' || json_extract(value, '$.phrase') || '"'
                || CASE WHEN json_extract(value, '$.begins') THEN ' *' ELSE '' END, ' OR ')
            FROM json_each($3)
        ) || ')', '')
    ) AND rowid <= $7
    ORDER BY rowid DESC LIMIT $8
) AS f
CROSS JOIN texts AS t ON t.id = f.id
CROSS JOIN sessions AS s ON s.id = t.session_id
CROSS JOIN threads AS h ON h.id = t.thread_id
WHERE s.tenant = $4 AND s.deleted_at_us IS NULL AND ($6 = 0 OR t.session_id = $6)
    AND ($5 = '' OR ($5 = '-' AND s.user_id IS NULL) OR '+' || s.user_id = $5)
ORDER BY t.id DESC;
