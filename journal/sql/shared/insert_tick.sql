-- $1 thread id, $2 seq, $3 session id, $4 generation, $5 due, $6 at (microseconds), $7 turn id, $8 code, $9 reason,
-- $10 by hand.
INSERT INTO ticks (thread_id, seq, session_id, generation, due_us, at_us, turn_id, code, reason, by_hand)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);
