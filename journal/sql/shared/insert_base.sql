-- $1 thread id, $2 seq, $3 id of the thread the state is from, $4 the seq there.
INSERT INTO bases (thread_id, seq, origin_id, at_seq) VALUES ($1, $2, $3, $4);
