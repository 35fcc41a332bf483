-- $1 session id. Row: steps, tokens, cost, wall time, tool calls of all its threads.
SELECT CAST(coalesce(sum(steps), 0) AS bigint), CAST(coalesce(sum(tokens), 0) AS bigint),
    CAST(coalesce(sum(cost_microusd), 0) AS bigint), CAST(coalesce(sum(wall_us), 0) AS bigint),
    CAST(coalesce(sum(tool_calls), 0) AS bigint)
FROM spent WHERE session_id = $1;
