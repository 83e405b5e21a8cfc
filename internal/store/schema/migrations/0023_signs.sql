-- min_reader: 19
-- What people see of an agent at work: since when it works, its last tool, and whether its harness waits for a person.

ALTER TABLE sessions ADD COLUMN active_since INTEGER NOT NULL DEFAULT 0; -- 0 while it is idle
ALTER TABLE sessions ADD COLUMN asked_at INTEGER NOT NULL DEFAULT 0; -- the harness asked its person then, and nothing was seen since
ALTER TABLE sessions ADD COLUMN tool TEXT NOT NULL DEFAULT ''; -- of the last tool call that was recorded
ALTER TABLE sessions ADD COLUMN file TEXT NOT NULL DEFAULT ''; -- that it was about
