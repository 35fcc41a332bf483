-- $1 thread id, $2 interaction id. Row: interaction_id, turn_id, kind, call_id, tool, state, resolution, principal,
-- asked_seq, settled_seq, asked_us, settled_us, deadline_us.
SELECT interaction_id, turn_id, kind, call_id, tool, state, resolution, principal, asked_seq, settled_seq, asked_us,
    settled_us, deadline_us
FROM interactions WHERE thread_id = $1 AND interaction_id = $2;
