-- What a child or a guest shares waits for whoever administers before it is trained.

ALTER TABLE members ADD COLUMN standing TEXT NOT NULL DEFAULT 'trusted'
    CHECK (standing IN ('trusted', 'child', 'guest'));

ALTER TABLE lessons ADD COLUMN approved_by TEXT;    -- who let it be trained; a lesson that is changed waits anew
ALTER TABLE lessons ADD COLUMN approved_at REAL;

CREATE VIEW lessons_waiting AS
    SELECT * FROM lessons WHERE status = 'active' AND approved_at IS NULL
        AND member IN (SELECT id FROM members WHERE standing <> 'trusted');
