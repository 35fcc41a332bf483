-- Times are microseconds since 1970 UTC, JSON is canonical bytes, and nothing refers by foreign key: a
-- foreign key would lock the thread's row at each entry. Keys of up to 4,000 bytes do not fit a btree, so
-- their digests are what is unique. Rows that change often leave room for HOT updates and no index covers
-- what changes.

CREATE TABLE meta (
    name text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE sessions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL,
    key_digest bytea NOT NULL UNIQUE,
    tenant text NOT NULL,
    user_id text,
    session text NOT NULL,
    control bytea NOT NULL,
    reducer_version integer NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    deleted_at_us bigint,
    paused integer NOT NULL DEFAULT 0,
    cancelled_seq bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX sessions_by_owner ON sessions (tenant, user_id, id);
CREATE INDEX sessions_by_tenant ON sessions (tenant, id);

CREATE TABLE counters (
    session_id bigint PRIMARY KEY,
    position bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE threads (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL,
    key_digest bytea NOT NULL UNIQUE,
    session_id bigint NOT NULL,
    tenant text NOT NULL,
    agent text NOT NULL,
    thread text NOT NULL,
    seq bigint NOT NULL,
    hash bytea NOT NULL,
    at_us bigint NOT NULL,
    epoch bigint NOT NULL,
    control bytea NOT NULL,
    reducer_version integer NOT NULL,
    tail_bytes bigint NOT NULL DEFAULT 0,
    checkpoint_bytes bigint NOT NULL DEFAULT 0,
    total_bytes bigint NOT NULL DEFAULT 0,
    queued integer NOT NULL DEFAULT 0,
    active_turn text,
    runnable integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
CREATE INDEX threads_by_session ON threads (session_id, id);
CREATE INDEX threads_with_work ON threads (id) WHERE runnable = 1;

-- What the sweeper remembers of a thread; losing it costs a needless wake-up. `seq` is where the thread stood,
-- `wakes` how often it was woken there in vain.
CREATE TABLE hints (
    thread_id bigint PRIMARY KEY,
    seq bigint NOT NULL,
    next_check_at_us bigint NOT NULL,
    wakes integer NOT NULL
) WITH (fillfactor = 50);

-- The earliest deadline of a thread's open questions; a projection of its control.
CREATE TABLE deadlines (
    thread_id bigint PRIMARY KEY,
    due_us bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX deadlines_by_time ON deadlines (due_us);

CREATE TABLE entries (
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    entry_id text NOT NULL,
    type text NOT NULL,
    version integer NOT NULL,
    position bigint NOT NULL,
    session_id bigint NOT NULL,
    at_us bigint NOT NULL,
    turn_id text,
    run text,
    step integer,
    epoch bigint,
    required integer NOT NULL,
    prev_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (thread_id, seq)
);
CREATE UNIQUE INDEX entries_by_position ON entries (session_id, position);

CREATE TABLE payloads (
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    salt bytea NOT NULL,
    body bytea,
    blob text,
    PRIMARY KEY (thread_id, seq)
);
ALTER TABLE payloads ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE blobs (
    session_id bigint NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session_id, sha256)
);
ALTER TABLE blobs ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE turns (
    turn_id text PRIMARY KEY,
    thread_id bigint NOT NULL,
    session_id bigint NOT NULL,
    tenant text NOT NULL,
    queue_order bigint NOT NULL,
    phase text NOT NULL,
    pause text NOT NULL,
    body bytea NOT NULL,
    queued_seq bigint NOT NULL,
    session_seq bigint NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX turns_queued ON turns (thread_id, queue_order) WHERE phase = 'queued';
CREATE INDEX turns_live ON turns (session_id, session_seq) WHERE phase IN ('queued', 'running', 'waiting');
CREATE INDEX turns_by_thread ON turns (thread_id, queued_seq);
CREATE INDEX turns_by_session ON turns (session_id, created_us);
CREATE INDEX turns_by_tenant ON turns (tenant, created_us);

CREATE TABLE requests (
    log_id bigint NOT NULL,
    request_id text NOT NULL,
    kind text NOT NULL,
    content_digest text NOT NULL,
    receipt bytea NOT NULL,
    PRIMARY KEY (log_id, request_id)
);

CREATE TABLE inbox (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_key text NOT NULL,
    turn_id text NOT NULL,
    request_id text NOT NULL,
    body bytea NOT NULL,
    enlisted_us bigint NOT NULL
);

CREATE TABLE checkpoints (
    thread_id bigint NOT NULL,
    seq bigint NOT NULL,
    reducer_version integer NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (thread_id, seq, reducer_version)
);

CREATE TABLE presences (
    kind text NOT NULL,
    name text NOT NULL,
    info text NOT NULL,
    lease_s double precision NOT NULL,
    beat_at timestamptz NOT NULL,
    PRIMARY KEY (kind, name)
) WITH (fillfactor = 50);
