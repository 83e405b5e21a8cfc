-- min_reader: 11. An older program would grant the stick in a paused room.
-- Who has paused a room, why and since when. Derived.

ALTER TABLE rooms ADD COLUMN paused_by TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN pause_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE rooms ADD COLUMN paused_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rooms ADD COLUMN resumed_at INTEGER NOT NULL DEFAULT 0; -- when a pause last ended during the turn. Evidence.
