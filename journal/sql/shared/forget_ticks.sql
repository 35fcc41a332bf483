-- $1 session id, $2 generation: the schedule is no more.
DELETE FROM ticks WHERE session_id = $1 AND generation = $2;
