-- Questions to people, a projection of `interaction.*` entries; a row stays when its question is settled. `tool` is
-- the tool the question is about, `asked_seq` the entry that asked.
CREATE TABLE interactions (
    thread_id INTEGER NOT NULL,
    interaction_id TEXT NOT NULL,
    session_id INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    call_id TEXT,
    tool TEXT,
    state TEXT NOT NULL,
    resolution TEXT,
    principal TEXT NOT NULL,
    asked_seq INTEGER NOT NULL,
    settled_seq INTEGER,
    asked_us INTEGER NOT NULL,
    settled_us INTEGER,
    deadline_us INTEGER,
    UNIQUE (thread_id, interaction_id)
) STRICT;
CREATE INDEX interactions_by_id ON interactions (interaction_id);
CREATE INDEX interactions_by_tenant ON interactions (tenant, asked_us, thread_id, interaction_id);
CREATE INDEX interactions_by_session ON interactions (session_id, asked_us, thread_id, interaction_id);
CREATE INDEX interactions_open ON interactions (tenant, asked_us, thread_id, interaction_id) WHERE state = 'open';
CREATE INDEX interactions_open_by_session ON interactions (session_id, asked_us, thread_id, interaction_id)
    WHERE state = 'open';

-- What a thread takes of its session's budget, a projection of its control; kept only while the session has one.
CREATE TABLE spent (
    thread_id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost_microusd INTEGER NOT NULL,
    wall_us INTEGER NOT NULL,
    tool_calls INTEGER NOT NULL
) STRICT;
CREATE INDEX spent_by_session ON spent (session_id);

-- Who deleted a session and why, and how far its content is gone: `erased_us` null, there is some left. `counts` is
-- JSON, what was erased so far.
CREATE TABLE tombstones (
    session_id INTEGER PRIMARY KEY,
    request_id TEXT NOT NULL,
    principal TEXT NOT NULL,
    reason TEXT,
    deleted_us INTEGER NOT NULL,
    erased_us INTEGER,
    counts BLOB NOT NULL
) STRICT;
CREATE INDEX tombstones_open ON tombstones (session_id) WHERE erased_us IS NULL;
