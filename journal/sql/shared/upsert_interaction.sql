-- $1 thread id, $2 interaction id, $3 session id, $4 tenant, $5 turn id, $6 kind, $7 call id, $8 tool, $9 state,
-- $10 resolution, $11 principal, $12 asked seq, $13 settled seq, $14 asked, $15 settled, $16 deadline (microseconds).
INSERT INTO interactions (
    thread_id, interaction_id, session_id, tenant, turn_id, kind, call_id, tool, state, resolution, principal, asked_seq,
    settled_seq, asked_us, settled_us, deadline_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
ON CONFLICT (thread_id, interaction_id) DO UPDATE
SET turn_id = excluded.turn_id, kind = excluded.kind, call_id = excluded.call_id, tool = excluded.tool,
    state = excluded.state, resolution = excluded.resolution, principal = excluded.principal,
    asked_seq = excluded.asked_seq, settled_seq = excluded.settled_seq, asked_us = excluded.asked_us,
    settled_us = excluded.settled_us, deadline_us = excluded.deadline_us;
