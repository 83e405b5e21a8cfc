-- min_reader: 19
-- An agent that waits in pieces waits as long as all of them. Evidence.

ALTER TABLE members ADD COLUMN waited_since INTEGER NOT NULL DEFAULT 0; -- when the wait began that returned at returned_at, or the first of those before it
