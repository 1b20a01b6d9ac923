-- Each member has a colour beside their name, and may have a PIN or a passphrase that every way in to their file asks for.

ALTER TABLE members ADD COLUMN colour TEXT NOT NULL DEFAULT 'teal';
UPDATE members SET colour =
    CASE (SELECT count(*) FROM members AS earlier WHERE earlier.rowid < members.rowid) % 6
    WHEN 0 THEN 'teal' WHEN 1 THEN 'amber' WHEN 2 THEN 'blue' WHEN 3 THEN 'coral' WHEN 4 THEN 'green' ELSE 'violet' END;

CREATE TABLE pins (
    member TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    hash TEXT NOT NULL,                     -- Argon2id, in its PHC form
    way_back TEXT NOT NULL,                 -- SHA-256 of the code that sets a new one where it is forgotten
    set_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE wrong_tries (                  -- of a PIN or a passphrase, since the last right one
    member TEXT PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    last_at REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE seals (                        -- how the key of an encrypted member's file comes of a passphrase
    salt TEXT PRIMARY KEY,                  -- hex; the first bytes of the file that it belongs to
    member TEXT NOT NULL REFERENCES members (id) ON DELETE CASCADE,
    passes INTEGER NOT NULL,                -- of Argon2id, as the two that follow
    memory_kib INTEGER NOT NULL,
    lanes INTEGER NOT NULL,
    proof TEXT NOT NULL,                    -- tells a wrong passphrase from a damaged file; not the key
    made_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX seals_by_member ON seals (member);
