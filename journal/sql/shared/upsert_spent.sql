-- $1 thread id, $2 session id, $3 steps, $4 tokens, $5 cost, $6 wall time, $7 tool calls, $8 tokens and $9 cost of these
-- that are only reserved, $10 until when it waits for what others reserved (0: it does not).
INSERT INTO spent (
    thread_id, session_id, steps, tokens, cost_microusd, wall_us, tool_calls, reserved_tokens, reserved_microusd, waits_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (thread_id) DO UPDATE
SET steps = excluded.steps, tokens = excluded.tokens, cost_microusd = excluded.cost_microusd, wall_us = excluded.wall_us,
    tool_calls = excluded.tool_calls, reserved_tokens = excluded.reserved_tokens,
    reserved_microusd = excluded.reserved_microusd, waits_us = excluded.waits_us;
