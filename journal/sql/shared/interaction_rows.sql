-- $1 thread id. Rows: session_id, tenant, then as `find_interaction`.
SELECT session_id, tenant, interaction_id, turn_id, kind, call_id, tool, state, resolution, principal, asked_seq,
    settled_seq, asked_us, settled_us, deadline_us
FROM interactions WHERE thread_id = $1 ORDER BY interaction_id;
