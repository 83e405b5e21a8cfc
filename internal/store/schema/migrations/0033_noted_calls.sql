-- min_reader: 28
-- The call at whose end everything uncommitted in its checkout was last noted, file by file: after the next one with the same snapshot
-- nothing has to be compared. The calls that ran beside one are looked up by when they ended.

ALTER TABLE calls ADD COLUMN noted INTEGER NOT NULL DEFAULT 0;

CREATE INDEX calls_noted ON calls (room_id, checkout) WHERE noted = 1;

DROP INDEX calls_of_checkout;
CREATE INDEX calls_of_checkout ON calls (room_id, checkout, ended_at);
