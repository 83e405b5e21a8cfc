-- min_reader: 28
-- By what agents choose among tasks, and which of those comes first. Derived.

ALTER TABLE tasks ADD COLUMN labels TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN priority INTEGER NOT NULL DEFAULT 0; -- 1 is high, -1 low
