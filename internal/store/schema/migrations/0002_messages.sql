-- min_reader: 2. An older program would pass the stick on without the messages in it being heard.
-- Messages, receipts, notes.

-- Whom an event is for, a row for each of them, and what became of it there: what a wait returns
-- and what an inbox lists. All but shown_at is derived.
CREATE TABLE receipts (
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    event_seq INTEGER NOT NULL REFERENCES events (event_seq),
    owes      INTEGER NOT NULL, -- 0 nothing, 1 reading, 2 an acknowledgement
    thread    TEXT NOT NULL,
    read_at   INTEGER NOT NULL,
    acked_at  INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL,
    is_open   INTEGER NOT NULL, -- something is still owed
    -- evidence
    shown_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, event_seq)
);

CREATE INDEX receipts_event ON receipts (event_seq, agent_id);
CREATE INDEX receipts_open ON receipts (room_id, agent_id, event_seq) WHERE is_open = 1;

-- Events for somebody that were made before there were receipts.
INSERT INTO receipts (room_id, agent_id, event_seq, owes, thread, read_at, acked_at, withdrawn, is_open, shown_at)
SELECT room_id, to_agent_id, event_seq, 0, '', 0, 0, 0, 0, 0 FROM events
WHERE to_agent_id <> '' AND to_agent_id <> from_agent_id
    AND event_type IN ('pass', 'release', 'rerouted', 'takeover', 'kick', 'owner_idle', 'policy_changed', 'restored');

DROP INDEX events_to;

CREATE INDEX events_from ON events (room_id, from_agent_id, event_seq);
CREATE INDEX events_task ON events (room_id, task_id, event_seq) WHERE task_id <> '';

-- Derived.
CREATE TABLE notes (
    event_seq   INTEGER PRIMARY KEY REFERENCES events (event_seq), -- the event that added it
    room_id     TEXT NOT NULL REFERENCES rooms (room_id),
    author      TEXT NOT NULL,
    turn_id     INTEGER NOT NULL, -- the turn that it is about, 0 for the room
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER NOT NULL,
    resolved_by TEXT NOT NULL
);

CREATE INDEX notes_room ON notes (room_id, event_seq);
CREATE INDEX notes_open ON notes (room_id, event_seq) WHERE resolved_at = 0;

ALTER TABLE rooms ADD COLUMN messages INTEGER NOT NULL DEFAULT 0; -- derived: since the last grant

ALTER TABLE listeners ADD COLUMN deaf INTEGER NOT NULL DEFAULT 0; -- it ignores events
