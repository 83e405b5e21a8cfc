-- min_reader: 28
-- What people call a member, beside its id. Derived.

ALTER TABLE members ADD COLUMN name TEXT NOT NULL DEFAULT ''; -- empty where that is its id

CREATE INDEX members_name ON members (name);
