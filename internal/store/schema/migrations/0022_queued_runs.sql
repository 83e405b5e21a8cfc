-- min_reader: 19
-- A command that tt starts by itself waits while as many run as the project allows.

ALTER TABLE task_runs ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
ALTER TABLE past_runs ADD COLUMN queued INTEGER NOT NULL DEFAULT 0;
