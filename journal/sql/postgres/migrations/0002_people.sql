-- Questions to people, a projection of `interaction.*` entries; a row stays when its question is settled. `tool` is
-- the tool the question is about, `asked_seq` the entry that asked.
CREATE TABLE interactions (
    thread_id bigint NOT NULL,
    interaction_id text NOT NULL,
    session_id bigint NOT NULL,
    tenant text NOT NULL,
    turn_id text NOT NULL,
    kind text NOT NULL,
    call_id text,
    tool text,
    state text NOT NULL,
    resolution text,
    principal text NOT NULL,
    asked_seq bigint NOT NULL,
    settled_seq bigint,
    asked_us bigint NOT NULL,
    settled_us bigint,
    deadline_us bigint,
    PRIMARY KEY (thread_id, interaction_id)
) WITH (fillfactor = 70);
CREATE INDEX interactions_by_id ON interactions (interaction_id);
CREATE INDEX interactions_by_tenant ON interactions (tenant, asked_us, thread_id, interaction_id);
CREATE INDEX interactions_by_session ON interactions (session_id, asked_us, thread_id, interaction_id);
CREATE INDEX interactions_open ON interactions (tenant, asked_us, thread_id, interaction_id) WHERE state = 'open';
CREATE INDEX interactions_open_by_session ON interactions (session_id, asked_us, thread_id, interaction_id)
    WHERE state = 'open';

-- What a thread takes of its session's budget, a projection of its control; kept only while the session has one.
CREATE TABLE spent (
    thread_id bigint PRIMARY KEY,
    session_id bigint NOT NULL,
    steps bigint NOT NULL,
    tokens bigint NOT NULL,
    cost_microusd bigint NOT NULL,
    wall_us bigint NOT NULL,
    tool_calls bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX spent_by_session ON spent (session_id);

-- Who deleted a session and why, and how far its content is gone: `erased_us` null, there is some left. `counts` is
-- JSON, what was erased so far.
CREATE TABLE tombstones (
    session_id bigint PRIMARY KEY,
    request_id text NOT NULL,
    principal text NOT NULL,
    reason text,
    deleted_us bigint NOT NULL,
    erased_us bigint,
    counts bytea NOT NULL
);
CREATE INDEX tombstones_open ON tombstones (session_id) WHERE erased_us IS NULL;
