-- $1 thread id, $2 interaction id, $3 state, $4 resolution, $5 principal, $6 settled seq, $7 settled (microseconds).
UPDATE interactions SET state = $3, resolution = $4, principal = $5, settled_seq = $6, settled_us = $7
WHERE thread_id = $1 AND interaction_id = $2;
