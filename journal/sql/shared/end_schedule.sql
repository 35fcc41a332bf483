-- $1 session id, $2 name, $3 now: the schedule of that name has ended, and Temporal is told.
UPDATE schedules SET state = 'ended', changed_us = $3, look_us = 0
WHERE session_id = $1 AND name = $2 AND state <> 'ended';
