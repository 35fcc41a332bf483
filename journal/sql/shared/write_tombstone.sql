-- $1 session id, $2 counts as JSON, $3 when everything was erased (null: not yet).
UPDATE tombstones SET counts = $2, erased_us = $3 WHERE session_id = $1;
