-- $1 turn id, $2 thread id, $3 session id, $4 tenant, $5 queue order, $6 phase, $7 pause, $8 body, $9 queued seq,
-- $10 session seq, $11 created, $12 updated (microseconds), $13 agent, $14 user: '-' anonymous, '+name'.
INSERT INTO turns (
    turn_id, thread_id, session_id, tenant, queue_order, phase, pause, body, queued_seq, session_seq, created_us, updated_us,
    agent, owner
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (turn_id) DO UPDATE
SET queue_order = excluded.queue_order, phase = excluded.phase, pause = excluded.pause, body = excluded.body,
    session_seq = excluded.session_seq, updated_us = excluded.updated_us, agent = excluded.agent,
    owner = excluded.owner;
