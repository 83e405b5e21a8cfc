-- min_reader: 19
-- The command of a task may run several times in an attempt. task_runs has the last run of each attempt, as programs of earlier versions
-- know it: one of them may be recording the end of a run now. past_runs has those before. Evidence.

ALTER TABLE task_runs ADD COLUMN run INTEGER NOT NULL DEFAULT 1; -- counts from 1 in each attempt
ALTER TABLE task_runs ADD COLUMN started_by TEXT NOT NULL DEFAULT '';
ALTER TABLE task_runs ADD COLUMN exit_signal TEXT NOT NULL DEFAULT '';
ALTER TABLE task_runs ADD COLUMN stop_at INTEGER NOT NULL DEFAULT 0; -- when somebody asked it to end
ALTER TABLE task_runs ADD COLUMN stopped_by TEXT NOT NULL DEFAULT '';
ALTER TABLE task_runs ADD COLUMN restarts INTEGER NOT NULL DEFAULT 0; -- how often it may still start again by itself
ALTER TABLE task_runs ADD COLUMN task_at INTEGER NOT NULL DEFAULT 0; -- since when the task had been in its state

CREATE TABLE past_runs (
    room_id     TEXT NOT NULL,
    task_key    TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    run         INTEGER NOT NULL,
    command     TEXT NOT NULL,
    machine     TEXT NOT NULL,
    boot        TEXT NOT NULL,
    pid_ns      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    start_time  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    exit        INTEGER NOT NULL,
    output      TEXT NOT NULL, -- the blob
    started_by  TEXT NOT NULL,
    exit_signal TEXT NOT NULL,
    stop_at     INTEGER NOT NULL,
    stopped_by  TEXT NOT NULL,
    restarts    INTEGER NOT NULL,
    task_at     INTEGER NOT NULL,
    PRIMARY KEY (room_id, task_key, attempt, run)
);
