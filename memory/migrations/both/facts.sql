-- A fact is one thing that somebody said, with their exact words; it gives way to a later one and is never overwritten.

ALTER TABLE facts ADD COLUMN predicate TEXT NOT NULL DEFAULT 'note';    -- a key of memory/data/facts.yaml
ALTER TABLE facts ADD COLUMN detail TEXT NOT NULL DEFAULT '';           -- of the predicate: which relative, which favourite
ALTER TABLE facts ADD COLUMN object TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN about TEXT NOT NULL DEFAULT 'household' CHECK (about IN ('member', 'person', 'household'));
ALTER TABLE facts ADD COLUMN about_member TEXT;                         -- the member's id, where it is about one
ALTER TABLE facts ADD COLUMN denied INTEGER NOT NULL DEFAULT 0;         -- it is no longer so
ALTER TABLE facts ADD COLUMN speaker TEXT NOT NULL DEFAULT '';          -- who spoke, where it was not the member
ALTER TABLE facts ADD COLUMN valid_from REAL NOT NULL DEFAULT 0;
ALTER TABLE facts ADD COLUMN valid_to REAL;                             -- when the next one took its place
ALTER TABLE facts ADD COLUMN replaced_by TEXT;                          -- id of that one
ALTER TABLE facts ADD COLUMN forgotten_as TEXT
    CHECK (forgotten_as IN ('forgotten', 'undone', 'disowned', 'edited'));
ALTER TABLE facts ADD COLUMN source TEXT NOT NULL DEFAULT '';           -- id of the message, or of the act, it was said in
ALTER TABLE facts ADD COLUMN quote TEXT NOT NULL DEFAULT '';            -- the exact words, which stand in the source
ALTER TABLE facts ADD COLUMN made_by TEXT NOT NULL DEFAULT 'person' CHECK (made_by IN ('person', 'rules', 'model'));
ALTER TABLE facts ADD COLUMN line TEXT NOT NULL DEFAULT '';             -- of those that share it, one holds at a time

UPDATE facts SET valid_from = created_at, quote = text, object = text, line = id;
UPDATE facts SET forgotten_as = 'forgotten' WHERE forgotten_at IS NOT NULL;
CREATE INDEX facts_by_source ON facts (source);
CREATE INDEX facts_by_line ON facts (line);
CREATE INDEX facts_by_predicate ON facts (predicate, said_by);

CREATE VIEW facts_standing AS                                           -- what may be recalled
    SELECT * FROM facts WHERE forgotten_at IS NULL AND valid_to IS NULL;

CREATE TABLE fact_acts (                    -- what people did with facts, in their order; facts are made of it anew
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    fact TEXT NOT NULL,                     -- id
    member TEXT NOT NULL,                   -- who did it
    kind TEXT NOT NULL CHECK (kind IN ('add', 'edit', 'forget', 'undo', 'restore', 'share', 'unshare', 'purge')),
    said TEXT NOT NULL DEFAULT '{}',        -- JSON: the fact as it was added or edited
    at REAL NOT NULL
);
CREATE INDEX fact_acts_by_fact ON fact_acts (fact);
