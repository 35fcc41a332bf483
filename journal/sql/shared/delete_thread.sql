-- $1 thread id.
DELETE FROM threads WHERE id = $1;
