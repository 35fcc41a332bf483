-- $1 session id. The session's entries start at position 1.
INSERT INTO counters (session_id, position) VALUES ($1, 0);
