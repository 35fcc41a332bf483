-- $1 session id, $2 generation, $3 changes it was looked at with, $4 applied to, $5 next (JSON), $6 looked, $7 look again
-- (microseconds), $8 error. Nothing, if it was changed meanwhile.
UPDATE schedules SET applied_to = $4, next = $5, looked_us = $6, look_us = $7, error = $8
WHERE session_id = $1 AND generation = $2 AND changes = $3 AND state <> 'ended';
