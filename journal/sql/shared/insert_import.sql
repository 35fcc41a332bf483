-- $1 session id, $2 digest of the file, $3 now.
INSERT INTO imports (session_id, digest, begun_us) VALUES ($1, $2, $3);
