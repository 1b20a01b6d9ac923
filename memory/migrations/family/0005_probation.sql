-- A snapshot is on probation for its first answers: what each member made of them, in numbers alone.

CREATE TABLE probation (
    number INTEGER NOT NULL REFERENCES snapshots (number),
    member TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    before INTEGER NOT NULL,                -- answers that this member had before it answered
    before_bad INTEGER NOT NULL,            -- those of them that they corrected or rated as bad
    after INTEGER NOT NULL,                 -- answers that it gave this member
    after_bad INTEGER NOT NULL,
    PRIMARY KEY (number, member)
) WITHOUT ROWID;

ALTER TABLE moves ADD COLUMN evidence TEXT; -- JSON of the numbers for which nobody but the probation made it
