-- Whom documents name that are in force: who stands in former versions alone is kept for the day on which one comes back.

CREATE VIEW nodes_named AS
    SELECT * FROM nodes n WHERE
        EXISTS (SELECT 1 FROM mentions m JOIN documents d ON d.seq = m.document
            WHERE m.node = n.seq AND d.replaced_at IS NULL)
        OR EXISTS (SELECT 1 FROM statements s WHERE s.subject = n.seq AND s.live > 0)
        OR EXISTS (SELECT 1 FROM statements s WHERE s.object = n.seq AND s.object IS NOT NULL AND s.live > 0);
