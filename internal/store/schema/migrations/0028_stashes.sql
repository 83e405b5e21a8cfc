-- min_reader: 27
-- Which agent made which entry of the stash, as a hook of its harness found it. Evidence, kept for a while.

CREATE TABLE stashes (
    room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
    commit_id TEXT    NOT NULL,
    checkout  TEXT    NOT NULL, -- the top level of the one in which it was made
    made_by   TEXT    NOT NULL, -- JSON
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (room_id, commit_id)
);

CREATE INDEX stashes_by_time ON stashes (room_id, made_at);
