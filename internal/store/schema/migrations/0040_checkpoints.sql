-- min_reader: 40. To earlier programs, a log that begins with a checkpoint looks damaged.
-- What the old events of a room came to that were removed: a replay of its log begins with it. Derived.

CREATE TABLE checkpoints (
    room_id   TEXT PRIMARY KEY REFERENCES rooms (room_id),
    event_seq INTEGER NOT NULL, -- the event that has the sum of the state
    pruned_to INTEGER NOT NULL, -- events up to this one were removed, except for those that were kept
    turn_id   INTEGER NOT NULL, -- the turn then
    state     TEXT NOT NULL     -- JSON: the record of the log up to pruned_to, and which events were kept
);
