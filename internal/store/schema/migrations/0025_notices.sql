-- min_reader: 19
-- Of which needs a person was told. Evidence: nobody is told of the same twice.

CREATE TABLE notices (
    room_id  TEXT NOT NULL REFERENCES rooms (room_id),
    agent_id TEXT NOT NULL, -- the person
    key      TEXT NOT NULL, -- of the need
    told_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, key)
);
