-- $1 thread id, $2 session id, $3 steps, $4 tokens, $5 cost, $6 wall time, $7 tool calls.
INSERT INTO spent (thread_id, session_id, steps, tokens, cost_microusd, wall_us, tool_calls)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (thread_id) DO UPDATE
SET steps = excluded.steps, tokens = excluded.tokens, cost_microusd = excluded.cost_microusd, wall_us = excluded.wall_us,
    tool_calls = excluded.tool_calls;
