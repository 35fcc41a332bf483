-- $1 thread id. Rows: seq, key of the thread the state is from (null: it is gone), the seq there, the entry that holds the
-- state itself (null: none does).
SELECT b.seq, t.key, b.at_seq, b.whole_seq FROM bases AS b LEFT JOIN threads AS t ON t.id = b.origin_id
WHERE b.thread_id = $1 ORDER BY b.seq;
