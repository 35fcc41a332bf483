-- $1 thread id. Row: seq and wakes of its hint.
SELECT seq, wakes FROM hints WHERE thread_id = $1;
