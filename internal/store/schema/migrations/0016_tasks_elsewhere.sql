-- min_reader: 11
-- In which checkout a task has its branch and its worktree, and a command does what its intent says, where a room has several. While the
-- command works it renews its intent: that is how other hosts know that it does.

ALTER TABLE tasks ADD COLUMN host_id TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN checkout TEXT NOT NULL DEFAULT ''; -- its path on that host

ALTER TABLE intents ADD COLUMN host_id TEXT NOT NULL DEFAULT '';
ALTER TABLE intents ADD COLUMN checkout TEXT NOT NULL DEFAULT '';
ALTER TABLE intents ADD COLUMN renewed_at INTEGER NOT NULL DEFAULT 0;
