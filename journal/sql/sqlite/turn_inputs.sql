-- $1 threads' ids and entries' numbers, as a JSON array of pairs. Rows: thread id, seq, type, version, body (null: it is a
-- blob, or was erased).
SELECT e.thread_id, e.seq, e.type, e.version, p.body
FROM json_each($1) AS asked
JOIN entries AS e ON e.thread_id = json_extract(asked.value, '$[0]') AND e.seq = json_extract(asked.value, '$[1]')
JOIN payloads AS p ON p.thread_id = e.thread_id AND p.seq = e.seq;
