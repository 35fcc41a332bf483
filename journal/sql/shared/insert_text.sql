-- $1 thread id, $2 seq, $3 session id, $4 how many words, $5 its owners, $6 its words. A text that is there stays.
INSERT INTO texts (thread_id, seq, session_id, size, owners, words) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (thread_id, seq) DO NOTHING;
