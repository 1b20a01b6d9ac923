-- How the assistant speaks to this member, in the member's own words.

CREATE TABLE voice (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    manner TEXT NOT NULL
);
