-- $1 now (microseconds), $2 how many at most: those of which Temporal is to be told, or to be asked.
-- Rows: session_id, the session's key, generation, name, state, changes, changed_us, applied_to. By a subquery, as a join
-- would be planned once, perhaps while the tables are empty.
SELECT c.session_id, (SELECT s.key FROM sessions AS s WHERE s.id = c.session_id), c.generation, c.name, c.state, c.changes,
    c.changed_us, c.applied_to
FROM schedules AS c
WHERE c.look_us <= $1 ORDER BY c.look_us, c.session_id, c.generation LIMIT $2;
