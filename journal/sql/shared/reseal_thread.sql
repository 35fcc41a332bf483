-- $1 thread id, $2 control: the same as it is to be stored now.
UPDATE threads SET control = $2 WHERE id = $1;
