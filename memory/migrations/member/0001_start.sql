-- What one member said and keeps private: conversations, facts and lessons.

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    deleted_at REAL                         -- deleted ones can be restored until they are purged
);
CREATE INDEX conversations_by_update ON conversations (updated_at);

CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,                -- also the row number in messages_text
    id TEXT NOT NULL UNIQUE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent_id TEXT REFERENCES messages (id) ON DELETE CASCADE,
    role TEXT NOT NULL CHECK (role IN ('system', 'user', 'assistant', 'tool')),
    content TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('complete', 'partial', 'stopped', 'failed')),
    created_at REAL NOT NULL,
    snapshot TEXT,
    meta TEXT NOT NULL DEFAULT '{}',
    rating INTEGER NOT NULL DEFAULT 0 CHECK (rating IN (-1, 0, 1)),
    writer TEXT,                            -- identity of the process that writes a partial answer
    indexed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX messages_by_conversation ON messages (conversation_id, seq);
CREATE INDEX messages_by_parent ON messages (parent_id);
CREATE INDEX messages_left ON messages (seq) WHERE indexed = 0;

-- Contentless: the words are cut by memory/text.py and would only repeat the message. The tokenizer splits at
-- spaces alone, so that c++ and at&t stay words.
CREATE VIRTUAL TABLE messages_text USING fts5 (
    exact, folded, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);

.read both/remembered.sql
