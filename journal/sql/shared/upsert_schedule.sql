-- $1 session id, $2 generation, $3 name, $4 state, $5 changes, $6 created, $7 changed (microseconds). Temporal is told.
INSERT INTO schedules (session_id, generation, name, state, changes, created_us, changed_us, applied_to, next, looked_us,
    look_us, error)
VALUES ($1, $2, $3, $4, $5, $6, $7, '', '[]', 0, 0, '')
ON CONFLICT (session_id, generation) DO UPDATE
SET name = excluded.name, state = excluded.state, changes = excluded.changes, created_us = excluded.created_us,
    changed_us = excluded.changed_us, look_us = 0;
