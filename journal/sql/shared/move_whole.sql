-- $1 thread id, $2 the entry that holds what its first entry begins with (null: none does any more).
UPDATE bases SET whole_seq = $2 WHERE thread_id = $1 AND seq = 1;
