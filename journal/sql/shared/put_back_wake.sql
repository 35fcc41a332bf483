-- $1 thread id, $2 wakes: as if it had not been taken.
UPDATE hints SET next_check_at_us = 0, wakes = $2 WHERE thread_id = $1;
