-- min_reader: 27
-- Calls of tools by agents, with the snapshots of the checkout before and after each. Evidence, kept for a while. An earlier program
-- makes no snapshots, and would leave its calls out of the windows by which changes are told apart.

CREATE TABLE calls (
    room_id    TEXT    NOT NULL REFERENCES rooms (room_id),
    call_id    INTEGER NOT NULL,
    checkout   TEXT    NOT NULL, -- its top level
    agent_id   TEXT    NOT NULL,
    helper     TEXT    NOT NULL, -- the sub-agent that made it; empty for the agent itself
    tool       TEXT    NOT NULL, -- as the harness names it
    command    TEXT    NOT NULL, -- cut
    call_key   TEXT    NOT NULL, -- by which the harness names the call before and after it; empty if it doesn't
    before_id  TEXT    NOT NULL, -- the snapshot; empty if there is none
    after_id   TEXT    NOT NULL,
    files      INTEGER NOT NULL, -- how many have changed
    overlapped INTEGER NOT NULL, -- another agent's call ran meanwhile
    started_at INTEGER NOT NULL,
    ended_at   INTEGER NOT NULL, -- 0 until it has ended
    PRIMARY KEY (room_id, call_id)
);

CREATE INDEX calls_of_checkout ON calls (room_id, checkout, started_at);
