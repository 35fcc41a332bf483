-- $1 session id, $2 sha256, $3 size in bytes, $4 body. The same content is stored once for a session.
INSERT INTO blobs (session_id, sha256, size, body) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;
