-- min_reader: 28
-- The calls of an agent that haven't ended are looked up after each of its calls.

CREATE INDEX calls_open ON calls (agent_id, room_id, checkout) WHERE ended_at = 0;
