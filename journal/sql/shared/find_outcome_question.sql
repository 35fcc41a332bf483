-- $1 thread id, $2 turn, $3 call id. Row: as `find_interaction`; the last question about what became of the call.
SELECT interaction_id, turn_id, kind, call_id, tool, state, resolution, principal, asked_seq, settled_seq, asked_us,
    settled_us, deadline_us
FROM interactions WHERE thread_id = $1 AND turn_id = $2 AND call_id = $3 AND kind = 'unknown_outcome'
ORDER BY asked_seq DESC LIMIT 1;
