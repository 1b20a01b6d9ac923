.read both/facts.sql

CREATE TABLE readings (                     -- what a model read in a message; facts are made of it anew too
    message TEXT PRIMARY KEY,
    reader TEXT NOT NULL,                   -- which model, with which instruction
    found TEXT NOT NULL,                    -- JSON
    at REAL NOT NULL
);
CREATE TRIGGER reading_of_message AFTER DELETE ON messages BEGIN    -- it holds words of the message
    DELETE FROM readings WHERE message = OLD.id;
END;
