-- In which answer a lesson was made, so that whoever is reminded of it can go there.

CREATE INDEX messages_by_lesson ON messages (json_extract(meta, '$.lesson')) WHERE json_extract(meta, '$.lesson') IS NOT NULL;
