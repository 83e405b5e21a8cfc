-- min_reader: 28
-- What agents have last seen of files, so that a write over changes that its author hasn't seen can be refused once. Evidence, kept for
-- a while, and only while several agents are in a room. An earlier program notes nothing, and refuses nothing.

CREATE TABLE reads (
    room_id  TEXT    NOT NULL REFERENCES rooms (room_id),
    agent_id TEXT    NOT NULL,
    helper   TEXT    NOT NULL, -- the sub-agent that read it; empty for the agent itself
    checkout TEXT    NOT NULL, -- its top level
    path     TEXT    NOT NULL, -- relative to it
    sum      TEXT    NOT NULL, -- of the file's bytes, as of the other columns what the file was like then
    size     INTEGER NOT NULL,
    mod_time INTEGER NOT NULL, -- nanoseconds since 1970
    inode    INTEGER NOT NULL,
    mode     INTEGER NOT NULL,
    wrote    INTEGER NOT NULL, -- the agent wrote it so
    refused  TEXT    NOT NULL, -- the sum of the file when a write was refused; empty for none
    read_at  INTEGER NOT NULL,
    PRIMARY KEY (room_id, agent_id, helper, checkout, path)
);

CREATE INDEX reads_by_time ON reads (room_id, read_at);
