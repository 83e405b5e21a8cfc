-- min_reader: 2
-- What hooks tell of a session. Evidence.

ALTER TABLE sessions ADD COLUMN idle_at INTEGER NOT NULL DEFAULT 0; -- it stopped working then, and nothing was seen since
