-- Times are microseconds since 1970 UTC, JSON is canonical bytes. Tables keep their rowid beside a unique
-- index: WITHOUT ROWID halved the speed of appends. Ids are never used twice, hence AUTOINCREMENT.

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    user_id TEXT,
    session TEXT NOT NULL,
    control BLOB NOT NULL,
    reducer_version INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    deleted_at_us INTEGER,
    paused INTEGER NOT NULL DEFAULT 0,
    cancelled_seq INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_by_owner ON sessions (tenant, user_id, id);
CREATE INDEX sessions_by_tenant ON sessions (tenant, id);

CREATE TABLE counters (
    session_id INTEGER PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT;

CREATE TABLE threads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    session_id INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    agent TEXT NOT NULL,
    thread TEXT NOT NULL,
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    at_us INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    control BLOB NOT NULL,
    reducer_version INTEGER NOT NULL,
    tail_bytes INTEGER NOT NULL DEFAULT 0,
    checkpoint_bytes INTEGER NOT NULL DEFAULT 0,
    total_bytes INTEGER NOT NULL DEFAULT 0,
    queued INTEGER NOT NULL DEFAULT 0,
    active_turn TEXT,
    runnable INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX threads_by_session ON threads (session_id, id);
CREATE INDEX threads_with_work ON threads (id) WHERE runnable = 1;

-- What the sweeper remembers of a thread; losing it costs a needless wake-up. `seq` is where the thread stood,
-- `wakes` how often it was woken there in vain.
CREATE TABLE hints (
    thread_id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    next_check_at_us INTEGER NOT NULL,
    wakes INTEGER NOT NULL
) STRICT;

-- The earliest deadline of a thread's open questions; a projection of its control.
CREATE TABLE deadlines (
    thread_id INTEGER PRIMARY KEY,
    due_us INTEGER NOT NULL
) STRICT;
CREATE INDEX deadlines_by_time ON deadlines (due_us);

CREATE TABLE entries (
    thread_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    entry_id TEXT NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    at_us INTEGER NOT NULL,
    turn_id TEXT,
    run TEXT,
    step INTEGER,
    epoch INTEGER,
    required INTEGER NOT NULL,
    prev_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    UNIQUE (thread_id, seq)
) STRICT;
CREATE UNIQUE INDEX entries_by_position ON entries (session_id, position);

CREATE TABLE payloads (
    thread_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    salt BLOB NOT NULL,
    body BLOB,
    blob TEXT,
    UNIQUE (thread_id, seq)
) STRICT;

CREATE TABLE blobs (
    session_id INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    size INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (session_id, sha256)
) STRICT;

CREATE TABLE turns (
    turn_id TEXT PRIMARY KEY,
    thread_id INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    queue_order INTEGER NOT NULL,
    phase TEXT NOT NULL,
    pause TEXT NOT NULL,
    body BLOB NOT NULL,
    queued_seq INTEGER NOT NULL,
    session_seq INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL
) STRICT;
CREATE INDEX turns_queued ON turns (thread_id, queue_order) WHERE phase = 'queued';
CREATE INDEX turns_live ON turns (session_id, session_seq) WHERE phase IN ('queued', 'running', 'waiting');
CREATE INDEX turns_by_thread ON turns (thread_id, queued_seq);
CREATE INDEX turns_by_session ON turns (session_id, created_us);
CREATE INDEX turns_by_tenant ON turns (tenant, created_us);

CREATE TABLE requests (
    log_id INTEGER NOT NULL,
    request_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    receipt BLOB NOT NULL,
    UNIQUE (log_id, request_id)
) STRICT;

CREATE TABLE inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_key TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    request_id TEXT NOT NULL,
    body BLOB NOT NULL,
    enlisted_us INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoints (
    thread_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    reducer_version INTEGER NOT NULL,
    body BLOB NOT NULL,
    UNIQUE (thread_id, seq, reducer_version)
) STRICT;
