-- $1 session id, $2 generation: Temporal has nothing of it any more.
DELETE FROM schedules WHERE session_id = $1 AND generation = $2 AND state = 'ended';
