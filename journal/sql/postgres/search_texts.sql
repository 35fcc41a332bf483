-- $1 owner, $2 what must occur and $3 what must not (JSON, as `transact/searching.py` writes it), $4 tenant, $5 user as
-- in a filter, $6 session id (0: any), $7 up to this id, $8 how many at most. Rows, newest first: id, thread id, the
-- thread's key, seq, number of words, and how often each of what must occur does (JSON). The index says which texts have
-- all the words; the texts themselves where there are phrases. Only the index can serve the innermost part.
WITH asked AS MATERIALIZED (
    SELECT string_agg(quote_literal(w.word) || CASE WHEN w.n = json_array_length(m -> 'words') AND (m ->> 'begins')::boolean
        THEN ':*' ELSE '' END, ' & ') AS words
    FROM json_array_elements($2::text::json) AS m, json_array_elements_text(m -> 'words') WITH ORDINALITY AS w (word, n)
), found AS MATERIALIZED (
    SELECT x.id FROM texts AS x
    WHERE x.vector @@ (SELECT quote_literal('=' || $1::text) || ' & ' || asked.words FROM asked)::tsquery
        AND x.id + 0 <= $7
        AND NOT EXISTS (
            SELECT FROM json_array_elements($2::text::json) AS m
            WHERE json_array_length(m -> 'words') > 1 AND strpos(x.words, m ->> 'needle') = 0
        )
        AND NOT EXISTS (
            SELECT FROM json_array_elements($3::text::json) AS m WHERE strpos(x.words, m ->> 'needle') > 0
        )
    ORDER BY x.id + 0 DESC LIMIT $8
)
SELECT t.id, t.thread_id, h.key, t.seq, t.size, (
    SELECT json_agg((length(t.words) - length(replace(t.words, m ->> 'needle', ''))) / length(m ->> 'needle') ORDER BY n)
    FROM json_array_elements($2::text::json) WITH ORDINALITY AS q (m, n)
)::text
FROM found AS f
JOIN texts AS t ON t.id = f.id
JOIN sessions AS s ON s.id = t.session_id
JOIN threads AS h ON h.id = t.thread_id
WHERE s.tenant = $4 AND s.deleted_at_us IS NULL AND ($6::bigint = 0 OR t.session_id = $6)
    AND ($5 = '' OR ($5 = '-' AND s.user_id IS NULL) OR '+' || s.user_id = $5)
ORDER BY t.id DESC;
