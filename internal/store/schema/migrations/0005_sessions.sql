-- min_reader: 5. An older program wouldn't end the session of a member that leaves.
-- The session that a member has in a room, and its role there. All of it is derived.

ALTER TABLE members ADD COLUMN role TEXT NOT NULL DEFAULT ''; -- of the running session, or of the last one
ALTER TABLE members ADD COLUMN context TEXT NOT NULL DEFAULT ''; -- the name of its context file, empty for the primary's own
ALTER TABLE members ADD COLUMN in_session INTEGER NOT NULL DEFAULT 0; -- it started and hasn't ended
ALTER TABLE members ADD COLUMN session_at INTEGER NOT NULL DEFAULT 0; -- when it started

ALTER TABLE rooms ADD COLUMN session_ended_at INTEGER NOT NULL DEFAULT 0; -- when a primary session last ended by its own act
