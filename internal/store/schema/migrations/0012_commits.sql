-- min_reader: 11
-- Which agent made which commit, as a hook of git saw it. Evidence, kept for a while.

CREATE TABLE commits (
    room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
    commit_id TEXT    NOT NULL,
    made_by   TEXT    NOT NULL, -- JSON
    made_at   INTEGER NOT NULL,
    PRIMARY KEY (room_id, commit_id)
);

CREATE INDEX commits_by_time ON commits (room_id, made_at);
