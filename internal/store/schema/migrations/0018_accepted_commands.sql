-- min_reader: 11
-- Which commands of a project's settings a person has accepted, by their sums. Evidence.

CREATE TABLE accepted_commands (
    room_id     TEXT NOT NULL REFERENCES rooms (room_id),
    key         TEXT NOT NULL, -- in .talking-stick.toml
    sum         TEXT NOT NULL, -- of the last command that was accepted under the key
    agent_id    TEXT NOT NULL, -- the person
    accepted_at INTEGER NOT NULL,
    PRIMARY KEY (room_id, key)
);
