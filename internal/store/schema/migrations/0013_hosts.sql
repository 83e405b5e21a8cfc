-- min_reader: 11
-- Which hosts share the database, under which boots they have written, and which processes their own hosts found ended. Evidence.

CREATE TABLE hosts (
    host_id TEXT NOT NULL PRIMARY KEY, -- of a data directory
    name    TEXT NOT NULL UNIQUE -- in the names of persons
);

CREATE TABLE host_boots (
    host_id  TEXT    NOT NULL,
    boot     TEXT    NOT NULL,
    began_at INTEGER NOT NULL, -- when it first wrote
    seen_at  INTEGER NOT NULL, -- when it wrote last, a few seconds less exactly
    ended_at INTEGER NOT NULL, -- when another boot of the host found it over; 0 if none has
    PRIMARY KEY (host_id, boot)
);

ALTER TABLE processes ADD COLUMN gone_at INTEGER NOT NULL DEFAULT 0; -- when its host found that it had ended; 0 if it hasn't
