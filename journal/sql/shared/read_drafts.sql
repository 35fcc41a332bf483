-- The words of the newest attempt at a model call of a thread's active turn.
-- $1 thread id; $2 turn id, $3 step, $4 ordinal, $5 n of the last row that is known.
-- Rows: turn_id, step, ordinal, n, block, kind, body, written_us.
WITH newest AS (
    SELECT f.turn_id, f.step, f.ordinal FROM threads AS t
    JOIN drafts AS f ON f.thread_id = t.id AND f.turn_id = t.active_turn
    WHERE t.id = $1 ORDER BY f.step DESC, f.ordinal DESC LIMIT 1
)
SELECT d.turn_id, d.step, d.ordinal, d.n, d.block, d.kind, d.body, d.written_us FROM newest AS w
JOIN drafts AS d ON d.thread_id = $1 AND d.turn_id = w.turn_id AND d.step = w.step AND d.ordinal = w.ordinal
WHERE d.n > CASE WHEN w.turn_id = $2 AND w.step = $3 AND w.ordinal = $4 THEN $5 ELSE 0 END
ORDER BY d.n;
