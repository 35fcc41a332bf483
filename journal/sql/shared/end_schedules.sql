-- $1 session id, $2 now: all schedules of the session have ended, and Temporal is told.
UPDATE schedules SET state = 'ended', changed_us = $2, look_us = 0 WHERE session_id = $1 AND state <> 'ended';
