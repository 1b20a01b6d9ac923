-- What somebody wanted to be forgotten is not read again under another name: of its bytes the hash is kept, and no word.

CREATE TABLE forgotten_documents (
    sha256 TEXT PRIMARY KEY,
    forgotten_at REAL NOT NULL
) WITHOUT ROWID;
