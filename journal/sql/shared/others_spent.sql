-- $1 session id, $2 thread id. Row: steps, tokens, cost, wall time, tool calls of its other threads, the tokens and the
-- cost of these that are only reserved, and until when the thread itself waits for those (0: it does not).
SELECT CAST(coalesce(sum(steps), 0) AS bigint), CAST(coalesce(sum(tokens), 0) AS bigint),
    CAST(coalesce(sum(cost_microusd), 0) AS bigint), CAST(coalesce(sum(wall_us), 0) AS bigint),
    CAST(coalesce(sum(tool_calls), 0) AS bigint),
    CAST(coalesce(sum(reserved_tokens), 0) AS bigint), CAST(coalesce(sum(reserved_microusd), 0) AS bigint),
    coalesce((SELECT waits_us FROM spent WHERE thread_id = $2), 0)
FROM spent WHERE session_id = $1 AND thread_id <> $2;
