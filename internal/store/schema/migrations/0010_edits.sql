-- min_reader: 9
-- Who has edited which uncommitted file. Evidence.

CREATE TABLE edits (
    room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
    checkout  TEXT    NOT NULL, -- the top level of the checkout
    path      TEXT    NOT NULL, -- relative to it; with / at its end it stands for all files in that directory
    editors   TEXT    NOT NULL, -- JSON
    sum       TEXT    NOT NULL, -- of the file's bytes; empty if there is no file
    size      INTEGER NOT NULL,
    mod_time  INTEGER NOT NULL, -- nanoseconds since 1970
    inode     INTEGER NOT NULL,
    mode      INTEGER NOT NULL,
    asleep_at INTEGER NOT NULL, -- it has had no changes since; 0 if it has some
    PRIMARY KEY (room_id, checkout, path)
);
