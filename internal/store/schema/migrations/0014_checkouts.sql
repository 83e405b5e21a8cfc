-- min_reader: 11
-- Where rooms lie on hosts that share the database. There a room's canonical_path is its key, which no path looks like.

CREATE TABLE checkouts (
    host_id TEXT NOT NULL,
    path    TEXT NOT NULL, -- on that host
    room_id TEXT NOT NULL REFERENCES rooms (room_id),
    PRIMARY KEY (host_id, path)
);

CREATE INDEX checkouts_by_room ON checkouts (room_id, host_id);
