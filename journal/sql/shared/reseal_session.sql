-- $1 session id, $2 control: the same as it is to be stored now.
UPDATE sessions SET control = $2 WHERE id = $1;
