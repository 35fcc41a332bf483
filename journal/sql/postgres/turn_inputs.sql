-- $1 threads' ids and entries' numbers, as a JSON array of pairs. Rows: thread id, seq, type, version, body (null: it is a
-- blob, or was erased). LATERAL with LIMIT: each row is looked up by its whole key, as in find_payload.sql.
SELECT e.thread_id, e.seq, e.type, e.version, p.body
FROM jsonb_array_elements($1::text::jsonb) AS asked
CROSS JOIN LATERAL (
    SELECT * FROM entries WHERE thread_id = (asked ->> 0)::bigint AND seq = (asked ->> 1)::bigint LIMIT 1
) AS e
CROSS JOIN LATERAL (
    SELECT * FROM payloads WHERE thread_id = e.thread_id AND seq = e.seq LIMIT 1
) AS p;
