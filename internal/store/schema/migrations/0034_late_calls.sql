-- min_reader: 28
-- The calls that have ended, and of which nobody has found yet what they have changed: the hook had too little time.

ALTER TABLE calls ADD COLUMN late INTEGER NOT NULL DEFAULT 0;

CREATE INDEX calls_late ON calls (room_id, checkout) WHERE late = 1;
