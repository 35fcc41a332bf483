-- $1 session id, $2 now: its import is gone on with.
UPDATE imports SET begun_us = $2 WHERE session_id = $1;
