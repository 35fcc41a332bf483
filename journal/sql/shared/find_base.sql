-- $1 thread id, $2 not after this seq. Row: of the newest entry that begins with a state from elsewhere its seq, the seq
-- there, key, id, session id and total_bytes of the thread it is in (null: it is gone), and the entry of this thread that
-- holds the state itself (null: none does).
SELECT b.seq, b.at_seq, t.key, t.id, t.session_id, t.total_bytes, b.whole_seq
FROM bases AS b LEFT JOIN threads AS t ON t.id = b.origin_id
WHERE b.thread_id = $1 AND b.seq <= $2 ORDER BY b.seq DESC LIMIT 1;
