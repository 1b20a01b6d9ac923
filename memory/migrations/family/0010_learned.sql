-- Which lessons the weights know by themselves, as the training that made them measured it.

CREATE TABLE lessons_learned (
    number INTEGER NOT NULL REFERENCES snapshots (number),
    lesson TEXT NOT NULL,                   -- every wording of it that was asked was answered right, without memory
    PRIMARY KEY (number, lesson)
) WITHOUT ROWID;
