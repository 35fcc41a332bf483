-- $1 thread id, $2 turn id, $3 step, $4 ordinal, $5 n, $6 block, $7 kind, $8 body, $9 now. Nothing is kept of a turn that
-- is not active (any more), and a row that is there already stays.
INSERT INTO drafts (thread_id, turn_id, step, ordinal, n, block, kind, body, written_us)
SELECT CAST($1 AS bigint), CAST($2 AS text), CAST($3 AS integer), CAST($4 AS integer), CAST($5 AS integer),
    CAST($6 AS integer), CAST($7 AS text), CAST($8 AS text), CAST($9 AS bigint)
FROM threads AS t WHERE t.id = CAST($1 AS bigint) AND t.active_turn = CAST($2 AS text)
ON CONFLICT DO NOTHING;
