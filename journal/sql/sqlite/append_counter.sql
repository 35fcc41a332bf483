-- $1 session id, $2 number of entries. Row: the position of the first of them.
UPDATE counters SET position = position + $2 WHERE session_id = $1
RETURNING position - $2 + 1;
