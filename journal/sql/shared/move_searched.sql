-- $1 thread id, $2 up to where its texts can be found now.
UPDATE threads SET searched_seq = $2 WHERE id = $1;
