-- min_reader: 1
-- Rooms, members, the log.
--
-- A column is derived or evidence. What is derived can be rebuilt from the events of its room,
-- and `tt doctor` compares the two. What is evidence (heartbeats, activity, listeners, cursors,
-- offers) can't, and losing it costs patience, never ownership. Times are milliseconds since
-- the Unix epoch, 0 for never; truth values are 0 and 1; JSON is text.

CREATE TABLE rooms (
    room_id         TEXT PRIMARY KEY,
    canonical_path  TEXT NOT NULL UNIQUE,
    created_at      INTEGER NOT NULL,
    -- derived
    updated_at      INTEGER NOT NULL, -- when the last event was made
    closed          INTEGER NOT NULL,
    policy          TEXT NOT NULL,
    generation      INTEGER NOT NULL,
    last_event_seq  INTEGER NOT NULL,
    last_sum        TEXT NOT NULL,
    turn_id         INTEGER NOT NULL,
    state           TEXT NOT NULL,
    owner           TEXT NOT NULL,
    lease_id        TEXT NOT NULL,
    reserved_for    TEXT NOT NULL,
    reserved_by     TEXT NOT NULL,
    prior_owner     TEXT NOT NULL,
    handoff_event_seq INTEGER NOT NULL,
    handoff_pending INTEGER NOT NULL,
    handoff_direct  INTEGER NOT NULL,
    next_action     TEXT NOT NULL,
    -- evidence: what deadlines and offers are counted from, and the place in the order of members
    sequence_index  INTEGER NOT NULL,
    granted_at      INTEGER NOT NULL,
    reserved_at     INTEGER NOT NULL,
    free_since      INTEGER NOT NULL,
    acked           INTEGER NOT NULL,
    renewed_at      INTEGER NOT NULL,
    guardian_pid    INTEGER NOT NULL,
    idle_notice_at  INTEGER NOT NULL,
    idle_since      INTEGER NOT NULL,
    opened_at       INTEGER NOT NULL,
    round           INTEGER NOT NULL,
    round_at        INTEGER NOT NULL,
    offered_at      INTEGER NOT NULL
);

CREATE TABLE members (
    room_id      TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id     TEXT NOT NULL,
    -- derived
    ordinal      INTEGER NOT NULL,
    state        TEXT NOT NULL,
    join_seq     INTEGER NOT NULL,
    held_seq     INTEGER NOT NULL,
    -- evidence
    joined_at    INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    told         INTEGER NOT NULL,
    passed_over  INTEGER NOT NULL,
    returned_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id)
);

CREATE INDEX members_agent ON members (agent_id);

-- A session is one run of an agent; its key is the harness with the session's own id, or the
-- process where the harness gives none. All of it is evidence.
CREATE TABLE sessions (
    session_key TEXT PRIMARY KEY,
    agent_id    TEXT NOT NULL,
    harness     TEXT NOT NULL,
    session_id  TEXT NOT NULL, -- the harness's own id, or empty
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    hooks_at    INTEGER NOT NULL, -- the harness's hooks were last seen firing
    busy_since  INTEGER NOT NULL  -- a tool call in progress began then
);

CREATE INDEX sessions_agent ON sessions (agent_id);

-- The processes that carry sessions, by exact identity. All of it is evidence.
CREATE TABLE processes (
    agent_id    TEXT NOT NULL,
    process_key TEXT NOT NULL,
    session_key TEXT NOT NULL, -- empty where the agent's name was assumed
    machine     TEXT NOT NULL,
    boot        TEXT NOT NULL,
    pid_ns      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    start_time  INTEGER NOT NULL,
    proof       TEXT NOT NULL,
    seen_at     INTEGER NOT NULL,
    PRIMARY KEY (agent_id, process_key)
);

CREATE INDEX processes_key ON processes (process_key, seen_at);

-- The waits that are blocked now. A row whose process no longer holds its lock is dead.
CREATE TABLE listeners (
    listener_id TEXT PRIMARY KEY,
    room_id     TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id    TEXT NOT NULL,
    intent      TEXT NOT NULL,
    machine     TEXT NOT NULL,
    boot        TEXT NOT NULL,
    pid_ns      TEXT NOT NULL,
    pid         INTEGER NOT NULL,
    start_time  INTEGER NOT NULL,
    started_at  INTEGER NOT NULL
);

CREATE INDEX listeners_room ON listeners (room_id, started_at);

CREATE TABLE cursors (
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    stream    TEXT NOT NULL,
    event_seq INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, stream)
);

-- The log. Rows are only ever added. event_seq comes from a counter that is locked until the
-- commit, so that the order of commits is the order of sequence numbers and a cursor can't skip.
CREATE TABLE events (
    event_seq     INTEGER PRIMARY KEY,
    event_id      TEXT NOT NULL UNIQUE,
    room_id       TEXT NOT NULL REFERENCES rooms (room_id),
    turn_id       INTEGER NOT NULL,
    event_type    TEXT NOT NULL,
    from_agent_id TEXT NOT NULL,
    to_agent_id   TEXT NOT NULL,
    session_id    TEXT NOT NULL,
    task_id       TEXT NOT NULL,
    handoff       TEXT NOT NULL,
    reason        TEXT NOT NULL,
    payload       TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    sum           TEXT NOT NULL
);

CREATE INDEX events_room ON events (room_id, event_seq);
CREATE INDEX events_turn ON events (room_id, turn_id, event_seq);
CREATE INDEX events_to ON events (room_id, to_agent_id, event_seq);

CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
);

INSERT INTO counters (name, value) VALUES ('event_seq', 0);
