-- min_reader: 4. An older program wouldn't end the reservations of a member that leaves.
-- Reservations of paths. Derived: a row is there while the reservation stands, stale or not.
CREATE TABLE reservations (
    event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq), -- the event that made it
    room_id   TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT NOT NULL,
    pattern   TEXT NOT NULL,
    prefix    TEXT NOT NULL, -- the first segments of the pattern that have no wildcard, with case folded
    task_id   TEXT NOT NULL,
    ttl_ms    INTEGER NOT NULL,
    made_at   INTEGER NOT NULL
);

-- What may mean a path has the path, or a directory above it, as its prefix.
CREATE INDEX reservations_prefix ON reservations (room_id, prefix, event_seq);
CREATE INDEX reservations_agent ON reservations (room_id, agent_id, event_seq);
