-- min_reader: 28
-- A member whose last turn has changed nothing rests, until something is for it. Evidence.

ALTER TABLE members ADD COLUMN rests_since INTEGER NOT NULL DEFAULT 0; -- since when it rests, 0 if it doesn't
