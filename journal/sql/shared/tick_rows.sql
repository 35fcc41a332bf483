-- $1 thread id. Rows: seq, generation, due_us, at_us, turn_id, code, reason, by_hand, the oldest first.
SELECT seq, generation, due_us, at_us, turn_id, code, reason, by_hand FROM ticks WHERE thread_id = $1 ORDER BY seq;
