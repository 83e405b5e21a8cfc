-- min_reader: 11
-- In which checkout each member works, where a room has several. Evidence.

ALTER TABLE members ADD COLUMN host_id TEXT NOT NULL DEFAULT '';
ALTER TABLE members ADD COLUMN checkout TEXT NOT NULL DEFAULT ''; -- its path on that host
