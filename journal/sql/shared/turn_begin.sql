-- $1 turn id. Row: its session's id, the position of the entry that queued it.
SELECT u.session_id, (SELECT e.position FROM entries AS e WHERE e.thread_id = u.thread_id AND e.seq = u.queued_seq)
FROM turns AS u WHERE u.turn_id = $1;
