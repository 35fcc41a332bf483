-- $1 thread id, $2 after this seq, $3 until this one (included).
DELETE FROM texts WHERE thread_id = $1 AND seq > $2 AND seq <= $3;
