-- min_reader: 7
-- What keeps a turn. Evidence.

ALTER TABLE rooms ADD COLUMN heartbeat_at INTEGER NOT NULL DEFAULT 0; -- the owner's last heartbeat that counted as activity
