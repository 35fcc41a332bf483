-- A row is found by its thread (whose key's digest this is), its session or its turn. No index is unique: whoever writes
-- the same turn again would wait for the transaction that wrote it first, and that is a caller's, which may stay open.
ALTER TABLE inbox
    ADD COLUMN key_digest bytea NOT NULL,
    ADD COLUMN session_key text NOT NULL;
CREATE INDEX inbox_by_thread ON inbox (key_digest, id);
CREATE INDEX inbox_by_session ON inbox USING hash (session_key);
CREATE INDEX inbox_by_turn ON inbox (turn_id);
