-- min_reader: 26
-- What tasks for later wait for, so that who looks for one that is ready needn't read those that aren't. An earlier program
-- would not take it back when that lands.

-- The key of a task that it waits for and that hasn't landed. Empty if there is none, or nobody has looked: then the rule decides.
ALTER TABLE tasks ADD COLUMN waits_for TEXT NOT NULL DEFAULT '';

DROP INDEX tasks_later;
CREATE INDEX tasks_maybe_ready ON tasks (room_id, created_at, task_key) WHERE later = 1 AND state = 'ASSIGNED' AND waits_for = '';
CREATE INDEX tasks_that_wait ON tasks (room_id, waits_for) WHERE waits_for <> '';
