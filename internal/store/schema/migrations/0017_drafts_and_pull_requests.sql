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

-- The pull request of a task at a forge. Derived.
ALTER TABLE tasks ADD COLUMN pr_number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN pr_url TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN pr_state TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN pr_head TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN pr_commit TEXT NOT NULL DEFAULT '';
