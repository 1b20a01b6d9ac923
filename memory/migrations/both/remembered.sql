-- Facts and lessons, and what finds them again: shared ones in the family's file, a member's own in theirs.

CREATE TABLE facts (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT '',
    said_by TEXT NOT NULL,
    created_at REAL NOT NULL,
    forgotten_at REAL
);

CREATE TABLE lessons (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    member TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('edit', 'compare', 'thumb', 'import', 'distilled')),
    messages TEXT NOT NULL,                 -- JSON: [{"role", "content"}], the last one is the question
    question_key TEXT NOT NULL,             -- the question as recall compares it; the latest correction of it wins
    chosen TEXT NOT NULL,
    rejected TEXT NOT NULL,
    snapshot TEXT,
    created_at REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'withdrawn'))
);
CREATE INDEX lessons_by_question ON lessons (question_key, created_at);

CREATE TABLE recall_terms (                 -- inverted index of lessons' questions and of facts
    term TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('lesson', 'fact')),
    item INTEGER NOT NULL,                  -- seq in lessons or facts
    PRIMARY KEY (term, kind, item)
) WITHOUT ROWID;
CREATE INDEX recall_terms_by_item ON recall_terms (kind, item);

CREATE TABLE index_versions (               -- which code built an index: another version builds it anew
    name TEXT PRIMARY KEY,
    version TEXT NOT NULL
);
