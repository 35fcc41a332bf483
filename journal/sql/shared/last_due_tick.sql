-- $1 session id, $2 generation. Row: due_us of the last tick that came by the clock.
SELECT due_us FROM ticks WHERE session_id = $1 AND generation = $2 AND by_hand = 0 ORDER BY seq DESC LIMIT 1;
