-- $1 thread id, $2 after this seq. Row: the seq of an entry that says some content was erased.
SELECT seq FROM entries WHERE thread_id = $1 AND seq > $2 AND type = 'entry.erased' LIMIT 1;
