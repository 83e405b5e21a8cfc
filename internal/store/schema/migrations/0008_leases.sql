-- min_reader: 7
-- What keeps a turn. Evidence.

ALTER TABLE rooms ADD COLUMN heartbeat_at INTEGER NOT NULL DEFAULT 0; -- the owner's last heartbeat that counted as activity
ALTER TABLE rooms ADD COLUMN guardian_of TEXT NOT NULL DEFAULT ''; -- the process that the guardian serves, by its key
