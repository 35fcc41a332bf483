-- $1 session id. Row: how many of its threads have an active or queued turn, and how many turns these are.
SELECT count(*), CAST(coalesce(sum(queued + CASE WHEN active_turn IS NULL THEN 0 ELSE 1 END), 0) AS bigint)
FROM threads WHERE session_id = $1 AND (queued > 0 OR active_turn IS NOT NULL);
