-- $1 after this thread id, $2 how many threads at most to look at, $3 target, $4 the version of states.
-- Rows: id, key, last entry, active turn ('': none), up to which entry its state was brought there (null: never). Those
-- of that page whose session is not deleted, whose state there is behind, and that rest, have another turn, a newer checkpoint, or
-- held what was erased. By subqueries, as a join would be planned once, perhaps while the tables are empty.
SELECT d.id, d.key, d.seq, d.turn_id, d.reached FROM (
    SELECT t.id, t.key, t.seq, t.session_id, t.runnable, coalesce(t.active_turn, '') AS turn_id,
        (SELECT s.seq FROM snapshots AS s WHERE s.thread_id = t.id AND s.target = $3) AS reached,
        (SELECT s.reducer_version FROM snapshots AS s WHERE s.thread_id = t.id AND s.target = $3) AS reducer_version,
        (SELECT s.turn_id FROM snapshots AS s WHERE s.thread_id = t.id AND s.target = $3) AS turn_before
    FROM (SELECT * FROM threads WHERE id > $1 ORDER BY id LIMIT $2) AS t
    WHERE t.agent <> ''
) AS d
WHERE (d.reached IS NULL OR d.reached < d.seq OR d.reducer_version < $4)
    AND (d.runnable = 0 OR d.reached < 0 OR d.turn_id <> coalesce(d.turn_before, '')
        OR EXISTS (SELECT 1 FROM checkpoints AS c WHERE c.thread_id = d.id AND c.seq > coalesce(d.reached, 0)))
    AND (SELECT x.deleted_at_us FROM sessions AS x WHERE x.id = d.session_id) IS NULL
ORDER BY d.id;
