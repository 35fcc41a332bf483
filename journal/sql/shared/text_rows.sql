-- $1 thread id, $2 until this seq. Rows: the seqs of its texts, in order.
SELECT seq FROM texts WHERE thread_id = $1 AND seq <= $2 ORDER BY seq;
