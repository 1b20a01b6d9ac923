-- Which nodes were made one, so that two who were joined by mistake are told apart again, each with what was said of them.

CREATE TABLE node_joins (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used again, so that an id names one of them for ever
    kept INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    name TEXT NOT NULL,                      -- of the one that went
    name_key TEXT NOT NULL,                  -- folded
    joined_by TEXT,                          -- none where an e-mail or the like made it certain
    joined_at REAL NOT NULL
);
CREATE INDEX node_joins_by_node ON node_joins (kept);
CREATE INDEX node_joins_by_name ON node_joins (name_key);

CREATE TABLE joined_documents (              -- those that named the one that went
    joined INTEGER NOT NULL REFERENCES node_joins (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    alone INTEGER NOT NULL,                  -- no version of it named the one that stayed
    PRIMARY KEY (joined, document)
) WITHOUT ROWID;
CREATE INDEX joined_documents_by_document ON joined_documents (document);

CREATE TABLE joined_places (                 -- where in them
    joined INTEGER NOT NULL,
    document INTEGER NOT NULL,
    said TEXT NOT NULL,                      -- the predicate; empty where somebody is named
    side TEXT NOT NULL,                      -- subject or object; empty where there is no telling them apart
    begins INTEGER NOT NULL,
    told TEXT NOT NULL,                      -- the value, or the row of the other end
    stayed INTEGER NOT NULL,                 -- it is said of the one that stayed, in a document that names both
    PRIMARY KEY (joined, document, said, side, begins, told, stayed),
    FOREIGN KEY (joined, document) REFERENCES joined_documents (joined, document) ON DELETE CASCADE
) WITHOUT ROWID;

ALTER TABLE nodes_apart ADD COLUMN joined INTEGER REFERENCES node_joins (seq) ON DELETE CASCADE;    -- said of the one that went
CREATE INDEX nodes_apart_by_join ON nodes_apart (joined) WHERE joined IS NOT NULL;
