-- min_reader: 28
-- What members owe is counted without reading their receipts.

CREATE INDEX receipts_owed ON receipts (room_id, agent_id, owes, read_at) WHERE is_open = 1;
