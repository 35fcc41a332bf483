-- $1 thread id. Row: steps, tokens, cost, wall time, tool calls.
SELECT steps, tokens, cost_microusd, wall_us, tool_calls FROM spent WHERE thread_id = $1;
