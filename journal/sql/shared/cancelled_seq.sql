-- $1 session id. Row: its cancelled_seq.
SELECT cancelled_seq FROM sessions WHERE id = $1;
