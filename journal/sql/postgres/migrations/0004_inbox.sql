-- A row is found by its thread, its session or its turn. No index is unique: whoever writes the same turn again would
-- wait for the transaction that wrote it first, and that is a caller's, which may stay open.
ALTER TABLE inbox
    ADD COLUMN thread_digest bytea NOT NULL,
    ADD COLUMN session_digest bytea NOT NULL;
CREATE INDEX inbox_by_thread ON inbox (thread_digest, id);
CREATE INDEX inbox_by_session ON inbox (session_digest);
CREATE INDEX inbox_by_turn ON inbox (turn_id, id);
