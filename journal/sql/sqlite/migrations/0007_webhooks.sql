-- Addresses that are told what is committed to a session, or of one of its turns (turn_id '': all of it). The journal is
-- the outbox: `position` is how far a receiver has come in it. `types` is JSON, none: all. Times in microseconds, 0: never.
CREATE TABLE webhooks (
    webhook_id TEXT PRIMARY KEY,
    session_id INTEGER NOT NULL,
    turn_id TEXT NOT NULL,
    url TEXT NOT NULL,
    types BLOB NOT NULL,
    secret TEXT NOT NULL,
    principal TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    position INTEGER NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL,
    failing_since_us INTEGER NOT NULL,
    next_try_us INTEGER NOT NULL,
    last_error TEXT NOT NULL,
    ended_us INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_of_session ON webhooks (session_id, created_us, webhook_id);
CREATE INDEX webhooks_active ON webhooks (webhook_id) WHERE state = 'active';
