-- $1 thread id. Row: up to where its texts can be found.
SELECT searched_seq FROM threads WHERE id = $1;
