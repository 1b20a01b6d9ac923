-- A member may have their private lessons trained, for their own answers alone.

ALTER TABLE members ADD COLUMN private_training INTEGER NOT NULL DEFAULT 0;

ALTER TABLE runs ADD COLUMN member TEXT;    -- whose private lessons it trains; NULL: the family's
