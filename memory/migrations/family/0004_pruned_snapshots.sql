-- A snapshot's weights may be given up to make room; who made it, when and why, and what its gate said, stay on record.

ALTER TABLE snapshots ADD COLUMN pruned_at REAL;    -- since when it is not kept, in seconds since 1970; NULL: it is
