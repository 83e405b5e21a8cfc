-- min_reader: 28
-- Which program answers the hooks of a session, so that a newer one can say that it is an older one. Evidence. A program that doesn't know
-- these columns writes hooks_at alone. Each later migration raises hooks_schema: by then the session may have the newer program.

ALTER TABLE sessions ADD COLUMN hooks_schema INTEGER NOT NULL DEFAULT 0; -- the newest schema that the program knew which wrote hooks_noted_at
ALTER TABLE sessions ADD COLUMN hooks_noted_at INTEGER NOT NULL DEFAULT 0; -- equal to hooks_at, unless a program wrote that which knows no such column

UPDATE sessions SET hooks_noted_at = hooks_at;
