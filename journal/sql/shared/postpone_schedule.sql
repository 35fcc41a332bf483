-- $1 session id, $2 generation, $3 look again (microseconds), $4 error, $5 changes it was looked at with. Of one that has
-- ended nothing is told any more.
UPDATE schedules SET look_us = $3, error = CASE WHEN state = 'ended' THEN '' ELSE $4 END
WHERE session_id = $1 AND generation = $2 AND changes = $5;
