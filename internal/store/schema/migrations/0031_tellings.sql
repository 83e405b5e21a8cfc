-- min_reader: 28
-- What a command of an agent's was going to do to work of others, from the hook before it until the hook after it, which tells what has come
-- of that. Evidence. An earlier program tells of it before the command runs.

CREATE TABLE tellings (
    room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
    agent_id  TEXT    NOT NULL,
    call_sum  TEXT    NOT NULL, -- of the call: its tool, key and text
    plan      TEXT    NOT NULL, -- JSON, for the same host
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, call_sum)
);
