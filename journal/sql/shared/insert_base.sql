-- $1 thread id, $2 seq, $3 id of the thread the state is from (0: it is gone), $4 the seq there, $5 the entry that holds
-- the state itself (null: none does).
INSERT INTO bases (thread_id, seq, origin_id, at_seq, whole_seq) VALUES ($1, $2, $3, $4, $5);
