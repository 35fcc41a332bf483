-- $1 session id: one that nobody has seen.
DELETE FROM sessions WHERE id = $1;
