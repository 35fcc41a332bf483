-- $1 thread id. Row: steps, tokens, cost, wall time, tool calls, tokens and cost of these that are only reserved, and until
-- when it waits for what others reserved (0: it does not).
SELECT steps, tokens, cost_microusd, wall_us, tool_calls, reserved_tokens, reserved_microusd, waits_us
FROM spent WHERE thread_id = $1;
