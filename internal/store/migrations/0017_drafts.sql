-- min_reader: 11
-- What holders save of their handoffs while they work. A turn has at most one draft, and those of a room are gone when a turn ends with
-- a handoff. Evidence.

CREATE TABLE drafts (
    room_id  TEXT NOT NULL REFERENCES rooms (room_id),
    turn_id  INTEGER NOT NULL,
    agent_id TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    body     TEXT NOT NULL,
    handoff  TEXT NOT NULL, -- JSON, or empty
    PRIMARY KEY (room_id, turn_id)
);
