-- min_reader: 19
-- Tasks that nobody has begun, and what they wait for; the slots of worktrees, and their set-up. An earlier program would find the tasks of
-- this one at odds with the log.

ALTER TABLE tasks ADD COLUMN later INTEGER NOT NULL DEFAULT 0; -- it has no branch and no worktree
ALTER TABLE tasks ADD COLUMN after_tasks TEXT NOT NULL DEFAULT ''; -- a JSON list of tasks
ALTER TABLE tasks ADD COLUMN slot INTEGER NOT NULL DEFAULT -1;

CREATE INDEX tasks_later ON tasks (room_id, created_at, task_key) WHERE later = 1 AND state = 'ASSIGNED';
CREATE INDEX tasks_slots ON tasks (room_id, slot) WHERE slot >= 0 AND state <> 'COMPLETED' AND state <> 'FAILED';

-- How the project's set-up of an attempt's worktree went. Evidence.
CREATE TABLE task_setups (
    room_id    TEXT NOT NULL,
    task_key   TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    command    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL, -- 0 until its end is known
    exit       INTEGER NOT NULL, -- -1 if it took too long
    output     TEXT NOT NULL, -- the blob
    PRIMARY KEY (room_id, task_key, attempt)
);
