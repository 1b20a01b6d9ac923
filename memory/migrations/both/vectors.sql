-- What lessons and facts mean, as vectors, for recall; and which of them have none yet.

CREATE TABLE vectors (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again, so that a reader knows what is new to it
    kind TEXT NOT NULL CHECK (kind IN ('lesson', 'fact')),
    item INTEGER NOT NULL,                  -- seq in lessons or facts
    signs BLOB NOT NULL,                    -- one bit a number of the first vector: which side of the middle it is on
    vector BLOB NOT NULL,                   -- of a lesson's question and of its answer, or of a fact; a byte a number
    UNIQUE (kind, item)
);

CREATE TABLE vectors_due (                  -- what a process that can make vectors has to make them for
    kind TEXT NOT NULL CHECK (kind IN ('lesson', 'fact')),
    item INTEGER NOT NULL,
    PRIMARY KEY (kind, item)
) WITHOUT ROWID;

INSERT INTO vectors_due SELECT DISTINCT kind, item FROM recall_terms;
