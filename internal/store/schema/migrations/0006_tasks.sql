-- min_reader: 5
-- Tasks, their attempts and reviews; what is being done to git for them; blobs.

CREATE TABLE tasks (
    room_id      TEXT NOT NULL REFERENCES rooms (room_id),
    task_key     TEXT NOT NULL, -- the name in small letters
    -- derived
    task_id      TEXT NOT NULL,
    state        TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    description  TEXT NOT NULL,
    spec         TEXT NOT NULL,
    branch       TEXT NOT NULL,
    worktree     TEXT NOT NULL,
    integration  TEXT NOT NULL,
    base         TEXT NOT NULL,
    head         TEXT NOT NULL,
    patch        TEXT NOT NULL,
    changes_gate INTEGER NOT NULL,
    worker       TEXT NOT NULL,
    earlier      TEXT NOT NULL, -- a JSON list of agents
    spawned_by   TEXT NOT NULL,
    approved     TEXT NOT NULL,
    approved_by  TEXT NOT NULL,
    approved_seq INTEGER NOT NULL, -- the place in the merge queue
    result       TEXT NOT NULL,
    cause        TEXT NOT NULL,
    reason       TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    state_at     INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL,
    -- evidence
    heartbeat_at INTEGER NOT NULL,
    PRIMARY KEY (room_id, task_key)
);

CREATE INDEX tasks_queue ON tasks (room_id, approved_seq) WHERE state = 'APPROVED';
CREATE INDEX tasks_worker ON tasks (worker, room_id) WHERE worker <> '';

-- Derived.
CREATE TABLE task_attempts (
    room_id     TEXT NOT NULL,
    task_key    TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    worker      TEXT NOT NULL,
    assigned_at INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    outcome     TEXT NOT NULL,
    PRIMARY KEY (room_id, task_key, attempt),
    FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);

-- Verdicts on commits. Derived.
CREATE TABLE reviews (
    event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq),
    room_id   TEXT NOT NULL,
    task_key  TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    reviewer  TEXT NOT NULL,
    verdict   TEXT NOT NULL,
    head      TEXT NOT NULL,
    body      TEXT NOT NULL,
    report    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);

CREATE INDEX reviews_task ON reviews (room_id, task_key, event_seq);

-- Which commit of a task a reviewer saw last. Evidence.
CREATE TABLE task_views (
    room_id  TEXT NOT NULL,
    task_key TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    head     TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, task_key, agent_id)
);

-- Commands that were started for an attempt. Evidence.
CREATE TABLE task_runs (
    room_id    TEXT NOT NULL,
    task_key   TEXT NOT NULL,
    attempt    INTEGER NOT NULL,
    command    TEXT NOT NULL,
    machine    TEXT NOT NULL,
    boot       TEXT NOT NULL,
    pid_ns     TEXT NOT NULL,
    pid        INTEGER NOT NULL,
    start_time INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    exit       INTEGER NOT NULL,
    output     TEXT NOT NULL, -- the blob
    PRIMARY KEY (room_id, task_key, attempt)
);

-- What is being done outside of the database: written before it is begun, ended when its outcome is
-- known. One that isn't ended, and whose lock nobody holds, is finished by the next command. Evidence.
CREATE TABLE intents (
    intent_id  TEXT PRIMARY KEY,
    room_id    TEXT NOT NULL REFERENCES rooms (room_id),
    task_key   TEXT NOT NULL, -- empty for the merge queue itself
    attempt    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    data       TEXT NOT NULL, -- JSON
    pid        INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL,
    outcome    TEXT NOT NULL
);

CREATE UNIQUE INDEX intents_open ON intents (room_id, task_key) WHERE ended_at = 0;

-- Long outputs, each kept in a file that is named by its sum. Evidence.
CREATE TABLE blobs (
    sum        TEXT PRIMARY KEY,
    size       INTEGER NOT NULL,
    created_at INTEGER NOT NULL
);
