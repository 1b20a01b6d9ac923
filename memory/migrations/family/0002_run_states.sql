-- Runs that judge nothing end as "done". SQLite changes no CHECK in place (https://sqlite.org/lang_altertable.html, 7);
-- what refers to the table is made anew with it, since dropping it alone would delete those rows.

CREATE TABLE runs_next (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'shipped', 'held', 'done', 'failed', 'stopped')),
    process TEXT NOT NULL,                  -- identity of the process that carries it
    started_at REAL NOT NULL,
    ended_at REAL,
    snapshot TEXT,
    summary TEXT NOT NULL DEFAULT '{}'
);
INSERT INTO runs_next SELECT * FROM runs;

CREATE TABLE run_lessons_next (             -- which lessons a run trains: tells what a snapshot has learned
    run INTEGER NOT NULL REFERENCES runs_next (number) ON DELETE CASCADE,
    lesson TEXT NOT NULL,
    PRIMARY KEY (run, lesson)
) WITHOUT ROWID;
INSERT INTO run_lessons_next SELECT * FROM run_lessons;

DROP TABLE run_lessons;
DROP TABLE runs;
ALTER TABLE runs_next RENAME TO runs;
ALTER TABLE run_lessons_next RENAME TO run_lessons;
CREATE UNIQUE INDEX one_run_at_a_time ON runs (state) WHERE state = 'running';
