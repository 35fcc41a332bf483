-- Nothing is enlisted here, for no caller's transaction is in this file; whoever looks for it looks as in any store.
ALTER TABLE inbox ADD COLUMN session_key TEXT NOT NULL DEFAULT '';
CREATE INDEX inbox_by_thread ON inbox (thread_key, id);
CREATE INDEX inbox_by_session ON inbox (session_key);
CREATE INDEX inbox_by_turn ON inbox (turn_id);
