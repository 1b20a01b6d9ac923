-- Documents, what was read in each, and the graph of what they say: the family's, or one member's own.

CREATE TABLE document_sources (              -- files and folders that somebody wants read
    path TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('file', 'folder')),
    added_by TEXT NOT NULL,
    added_at REAL NOT NULL
);

CREATE TABLE documents (                     -- one content in one format, wherever its files are
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    format TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    added_by TEXT NOT NULL,
    seen_at REAL NOT NULL,
    replaces INTEGER REFERENCES documents (seq) ON DELETE SET NULL,   -- in force until this one has been read
    lineage INTEGER,                         -- the first version of it
    replaced_at REAL,                        -- what it says is no longer so: another version was read
    problem TEXT,                            -- code and facts of why it could not be read
    facts TEXT NOT NULL DEFAULT '{}',
    remarks TEXT NOT NULL DEFAULT '[]',
    UNIQUE (sha256, format)
);

CREATE INDEX documents_by_lineage ON documents (lineage);

CREATE TABLE document_places (               -- a file as it was seen last
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL REFERENCES document_sources (path) ON DELETE CASCADE,
    document INTEGER REFERENCES documents (seq) ON DELETE CASCADE,    -- none of a file that cannot be read, or was forgotten
    size INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    gone_at REAL,
    problem TEXT,
    facts TEXT NOT NULL DEFAULT '{}'
);
CREATE INDEX document_places_by_document ON document_places (document);

CREATE TABLE document_reads (                -- the ledger: each document once for each version of what reads it
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    extractor TEXT NOT NULL,
    read_at REAL NOT NULL,
    statements INTEGER NOT NULL,
    PRIMARY KEY (document, extractor)
) WITHOUT ROWID;

CREATE TABLE document_claims (               -- which process works on a document now
    document INTEGER PRIMARY KEY REFERENCES documents (seq) ON DELETE CASCADE,
    extractor TEXT NOT NULL,
    token TEXT NOT NULL,
    holder TEXT NOT NULL,                    -- identity of the process
    until REAL NOT NULL
);

CREATE TABLE nodes (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL                   -- folded
);
CREATE INDEX nodes_by_name ON nodes (name_key, kind);

CREATE TABLE node_names (                    -- whole and shorter names by which somebody may be asked about
    name TEXT NOT NULL,
    node INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    PRIMARY KEY (name, node)
) WITHOUT ROWID;
CREATE INDEX node_names_by_node ON node_names (node);

CREATE TABLE nodes_apart (                   -- two of one name of whom somebody said that they are two
    first INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    second INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    said_by TEXT NOT NULL,
    said_at REAL NOT NULL,
    PRIMARY KEY (first, second)
) WITHOUT ROWID;

CREATE TABLE statements (                    -- an edge where there is an object, else a property
    seq INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    predicate TEXT NOT NULL,
    object INTEGER REFERENCES nodes (seq) ON DELETE CASCADE,
    value TEXT,
    live INTEGER NOT NULL DEFAULT 0,         -- how many places of documents in force say it
    CHECK ((object IS NULL) <> (value IS NULL))
);
CREATE UNIQUE INDEX statements_once ON statements (subject, predicate, coalesce(object, 0), coalesce(value, ''));
CREATE INDEX statements_out ON statements (subject, object) WHERE live > 0 AND object IS NOT NULL;
CREATE INDEX statements_in ON statements (object, subject) WHERE live > 0 AND object IS NOT NULL;
CREATE INDEX statements_to ON statements (object) WHERE object IS NOT NULL;
CREATE INDEX statements_by_value ON statements (value, predicate) WHERE value IS NOT NULL;

CREATE TABLE evidence (                      -- where a document says it, word for word
    statement INTEGER NOT NULL REFERENCES statements (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    extractor TEXT NOT NULL,
    begins INTEGER NOT NULL,                 -- in characters of the text that was read
    ends INTEGER NOT NULL,
    words TEXT NOT NULL,
    page INTEGER,
    line INTEGER NOT NULL,
    PRIMARY KEY (statement, document, extractor, begins)
) WITHOUT ROWID;
CREATE INDEX evidence_by_document ON evidence (document, extractor);

CREATE TABLE mentions (                      -- where a document names a node
    node INTEGER NOT NULL REFERENCES nodes (seq) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    extractor TEXT NOT NULL,
    begins INTEGER NOT NULL,
    ends INTEGER NOT NULL,
    words TEXT NOT NULL,
    page INTEGER,
    line INTEGER NOT NULL,
    PRIMARY KEY (node, document, extractor, begins)
) WITHOUT ROWID;
CREATE INDEX mentions_by_document ON mentions (document, extractor);
