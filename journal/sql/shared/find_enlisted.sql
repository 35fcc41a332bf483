-- $1 turn id. Row: the thread's key, request id, when it was enlisted. As in PostgreSQL's `first_enlisted`, the first from
-- the turn's place in its index on.
SELECT f.thread_key, f.request_id, f.enlisted_us FROM (
    SELECT turn_id, thread_key, request_id, enlisted_us FROM inbox WHERE turn_id >= $1 ORDER BY turn_id, id LIMIT 1
) AS f
WHERE f.turn_id = $1;
