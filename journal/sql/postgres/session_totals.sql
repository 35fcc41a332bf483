-- $1 session ids as a JSON array. Rows: id, created, updated, threads, active turns, queued turns, time and position of its
-- last entry. A session at a time, as a join would be planned once, perhaps while the tables are empty, and then read all
-- threads each time.
SELECT s.id, s.created_us, s.updated_us, t.threads, t.active, t.queued, coalesce(t.last_us, s.created_us), c.position
FROM jsonb_array_elements_text($1::text::jsonb) AS asked (id)
JOIN LATERAL (SELECT id, created_us, updated_us FROM sessions WHERE id = asked.id::bigint LIMIT 1) AS s ON true
JOIN LATERAL (SELECT position FROM counters WHERE session_id = s.id LIMIT 1) AS c ON true
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE h.agent <> '') AS threads, count(h.active_turn) AS active,
        coalesce(sum(h.queued), 0) AS queued, max(h.at_us) AS last_us
    FROM threads AS h WHERE h.session_id = s.id
) AS t;
