-- $1 session id, $2 now: as the session was deleted, its schedules have ended and nothing of them is told any more.
UPDATE schedules SET state = 'ended', name = '', error = '', next = '[]', changed_us = $2, look_us = 0
WHERE session_id = $1;
