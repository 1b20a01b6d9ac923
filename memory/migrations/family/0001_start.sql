-- What the whole household shares: who belongs to it, shared facts and lessons, snapshots and runs.

CREATE TABLE members (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL UNIQUE,          -- folded: Núñez and nunez would be told apart by nobody
    language TEXT NOT NULL,
    admin INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    removed_at REAL                         -- set before the member's file goes, so that a crash is finished later
);

CREATE TABLE snapshots (
    number INTEGER PRIMARY KEY,             -- 0 is the base, shown as v0
    digest TEXT NOT NULL UNIQUE,            -- of the manifest in the artifact store
    base_name TEXT NOT NULL,
    base_sha256 TEXT NOT NULL,
    adapters TEXT NOT NULL,                 -- JSON: [{"sha256", "scale"}]
    parent INTEGER REFERENCES snapshots (number),
    run TEXT,
    reason TEXT NOT NULL,
    gate TEXT,                              -- JSON of the gate's report
    created_at REAL NOT NULL
);

CREATE TABLE current_snapshot (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL REFERENCES snapshots (number)
);

CREATE TABLE moves (                        -- every move of the current snapshot, never deleted
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('promote', 'rollback')),
    number INTEGER NOT NULL REFERENCES snapshots (number),
    previous INTEGER REFERENCES snapshots (number),
    who TEXT NOT NULL,
    why TEXT NOT NULL,
    at REAL NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0       -- a rollback has gone back over it
);

CREATE TABLE file_digests (                 -- spares hashing a base model again at each start
    path TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL
);

CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'shipped', 'held', 'failed', 'stopped')),
    process TEXT NOT NULL,                  -- identity of the process that carries it
    started_at REAL NOT NULL,
    ended_at REAL,
    snapshot TEXT,
    summary TEXT NOT NULL DEFAULT '{}'
);
CREATE UNIQUE INDEX one_run_at_a_time ON runs (state) WHERE state = 'running';

CREATE TABLE run_lessons (                  -- which lessons a run trains: tells what a snapshot has learned
    run INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    lesson TEXT NOT NULL,
    PRIMARY KEY (run, lesson)
) WITHOUT ROWID;

.read both/remembered.sql
