-- $1 session id, $2 generation, $3 look again (microseconds), $4 error, $5 changes it was looked at with.
UPDATE schedules SET look_us = $3, error = $4 
WHERE session_id = $1 AND generation = $2 AND changes = $5 AND state <> 'ended';
