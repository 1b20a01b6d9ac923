-- What was trained of this member's private lessons. The adapters themselves are in the member's part of the home.

CREATE TABLE private_adapters (
    number INTEGER PRIMARY KEY,             -- 1 is shown as p1
    sha256 TEXT NOT NULL,                   -- of the file in the member's own store
    bytes INTEGER NOT NULL,
    snapshot TEXT NOT NULL,                 -- the family's snapshot that it was trained over, as v3
    base_sha256 TEXT NOT NULL,              -- what that snapshot is made of
    adapters TEXT NOT NULL,                 -- JSON: [{"sha256", "scale"}]
    previous INTEGER REFERENCES private_adapters (number),  -- in force before it: where its rollback goes
    run TEXT NOT NULL,
    gate TEXT NOT NULL,                     -- JSON of the gate's report
    created_at REAL NOT NULL
);

CREATE TABLE current_private_adapter (      -- no row: none is in force
    only INTEGER PRIMARY KEY CHECK (only = 1),
    number INTEGER NOT NULL REFERENCES private_adapters (number)
);

CREATE TABLE run_lessons (                  -- which private lessons a run trains
    run TEXT NOT NULL,
    lesson TEXT NOT NULL,
    PRIMARY KEY (run, lesson)
) WITHOUT ROWID;
