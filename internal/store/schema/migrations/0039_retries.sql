-- min_reader: 28
-- A command that has failed may start again by itself, and one that runs for too long is ended. Evidence.

ALTER TABLE task_runs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0; -- how many times it may still start again after a failure
ALTER TABLE task_runs ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0; -- when it does, 0 if it doesn't
ALTER TABLE task_runs ADD COLUMN limited INTEGER NOT NULL DEFAULT 0; -- 1 if it ran for longer than the project allows
ALTER TABLE past_runs ADD COLUMN retries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE past_runs ADD COLUMN retry_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE past_runs ADD COLUMN limited INTEGER NOT NULL DEFAULT 0;
