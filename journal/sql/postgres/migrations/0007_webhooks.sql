-- Addresses that are told what is committed to a session, or of one of its turns (turn_id '': all of it). The journal is
-- the outbox: `position` is how far a receiver has come in it. `types` is JSON, none: all. Times in microseconds, 0: never.
CREATE TABLE webhooks (
    webhook_id text PRIMARY KEY,
    session_id bigint NOT NULL,
    turn_id text NOT NULL,
    url text NOT NULL,
    types bytea NOT NULL,
    secret text NOT NULL,
    principal text NOT NULL,
    created_us bigint NOT NULL,
    position bigint NOT NULL,
    state text NOT NULL,
    tries bigint NOT NULL,
    failing_since_us bigint NOT NULL,
    next_try_us bigint NOT NULL,
    last_error text NOT NULL,
    ended_us bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX webhooks_of_session ON webhooks (session_id, created_us, webhook_id);
CREATE INDEX webhooks_active ON webhooks (webhook_id) WHERE state = 'active';
