CREATE TABLE rooms (
room_id         TEXT PRIMARY KEY,
canonical_path  TEXT NOT NULL UNIQUE,
created_at      INTEGER NOT NULL,
updated_at      INTEGER NOT NULL,
closed          INTEGER NOT NULL,
policy          TEXT NOT NULL,
generation      INTEGER NOT NULL,
last_event_seq  INTEGER NOT NULL,
last_sum        TEXT NOT NULL,
turn_id         INTEGER NOT NULL,
state           TEXT NOT NULL,
owner           TEXT NOT NULL,
lease_id        TEXT NOT NULL,
reserved_for    TEXT NOT NULL,
reserved_by     TEXT NOT NULL,
prior_owner     TEXT NOT NULL,
handoff_event_seq INTEGER NOT NULL,
handoff_pending INTEGER NOT NULL,
handoff_direct  INTEGER NOT NULL,
next_action     TEXT NOT NULL,
sequence_index  INTEGER NOT NULL,
granted_at      INTEGER NOT NULL,
reserved_at     INTEGER NOT NULL,
free_since      INTEGER NOT NULL,
acked           INTEGER NOT NULL,
renewed_at      INTEGER NOT NULL,
guardian_pid    INTEGER NOT NULL,
idle_notice_at  INTEGER NOT NULL,
idle_since      INTEGER NOT NULL,
opened_at       INTEGER NOT NULL,
round           INTEGER NOT NULL,
round_at        INTEGER NOT NULL,
offered_at      INTEGER NOT NULL
, messages INTEGER NOT NULL DEFAULT 0, session_ended_at INTEGER NOT NULL DEFAULT 0, heartbeat_at INTEGER NOT NULL DEFAULT 0, guardian_of TEXT NOT NULL DEFAULT '', paused_by TEXT NOT NULL DEFAULT '', pause_reason TEXT NOT NULL DEFAULT '', paused_at INTEGER NOT NULL DEFAULT 0, resumed_at INTEGER NOT NULL DEFAULT 0);

CREATE TABLE members (
room_id      TEXT NOT NULL REFERENCES rooms (room_id),
agent_id     TEXT NOT NULL,
ordinal      INTEGER NOT NULL,
state        TEXT NOT NULL,
join_seq     INTEGER NOT NULL,
held_seq     INTEGER NOT NULL,
joined_at    INTEGER NOT NULL,
last_seen_at INTEGER NOT NULL,
told         INTEGER NOT NULL,
passed_over  INTEGER NOT NULL,
returned_at  INTEGER NOT NULL, role TEXT NOT NULL DEFAULT '', context TEXT NOT NULL DEFAULT '', in_session INTEGER NOT NULL DEFAULT 0, session_at INTEGER NOT NULL DEFAULT 0, host_id TEXT NOT NULL DEFAULT '', checkout TEXT NOT NULL DEFAULT '', waited_since INTEGER NOT NULL DEFAULT 0, rests_since INTEGER NOT NULL DEFAULT 0, name TEXT NOT NULL DEFAULT '',
PRIMARY KEY (room_id, agent_id)
);

CREATE INDEX members_agent ON members (agent_id);

CREATE TABLE sessions (
session_key TEXT PRIMARY KEY,
agent_id    TEXT NOT NULL,
harness     TEXT NOT NULL,
session_id  TEXT NOT NULL,
started_at  INTEGER NOT NULL,
ended_at    INTEGER NOT NULL,
hooks_at    INTEGER NOT NULL,
busy_since  INTEGER NOT NULL
, idle_at INTEGER NOT NULL DEFAULT 0, active_since INTEGER NOT NULL DEFAULT 0, asked_at INTEGER NOT NULL DEFAULT 0, tool TEXT NOT NULL DEFAULT '', file TEXT NOT NULL DEFAULT '', hooks_schema INTEGER NOT NULL DEFAULT 0, hooks_noted_at INTEGER NOT NULL DEFAULT 0);

CREATE INDEX sessions_agent ON sessions (agent_id);

CREATE TABLE processes (
agent_id    TEXT NOT NULL,
process_key TEXT NOT NULL,
session_key TEXT NOT NULL,
machine     TEXT NOT NULL,
boot        TEXT NOT NULL,
pid_ns      TEXT NOT NULL,
pid         INTEGER NOT NULL,
start_time  INTEGER NOT NULL,
proof       TEXT NOT NULL,
seen_at     INTEGER NOT NULL, gone_at INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (agent_id, process_key)
);

CREATE INDEX processes_key ON processes (process_key, seen_at);

CREATE TABLE listeners (
listener_id TEXT PRIMARY KEY,
room_id     TEXT NOT NULL REFERENCES rooms (room_id),
agent_id    TEXT NOT NULL,
intent      TEXT NOT NULL,
machine     TEXT NOT NULL,
boot        TEXT NOT NULL,
pid_ns      TEXT NOT NULL,
pid         INTEGER NOT NULL,
start_time  INTEGER NOT NULL,
started_at  INTEGER NOT NULL
, deaf INTEGER NOT NULL DEFAULT 0);

CREATE INDEX listeners_room ON listeners (room_id, started_at);

CREATE TABLE cursors (
room_id   TEXT NOT NULL REFERENCES rooms (room_id),
agent_id  TEXT NOT NULL,
stream    TEXT NOT NULL,
event_seq INTEGER NOT NULL,
PRIMARY KEY (room_id, agent_id, stream)
);

CREATE TABLE events (
event_seq     INTEGER PRIMARY KEY,
event_id      TEXT NOT NULL UNIQUE,
room_id       TEXT NOT NULL REFERENCES rooms (room_id),
turn_id       INTEGER NOT NULL,
event_type    TEXT NOT NULL,
from_agent_id TEXT NOT NULL,
to_agent_id   TEXT NOT NULL,
session_id    TEXT NOT NULL,
task_id       TEXT NOT NULL,
handoff       TEXT NOT NULL,
reason        TEXT NOT NULL,
payload       TEXT NOT NULL,
created_at    INTEGER NOT NULL,
sum           TEXT NOT NULL
);

CREATE INDEX events_room ON events (room_id, event_seq);

CREATE INDEX events_turn ON events (room_id, turn_id, event_seq);

CREATE TABLE counters (
name  TEXT PRIMARY KEY,
value INTEGER NOT NULL
);

CREATE TABLE receipts (
room_id   TEXT NOT NULL REFERENCES rooms (room_id),
agent_id  TEXT NOT NULL,
event_seq INTEGER NOT NULL REFERENCES events (event_seq),
owes      INTEGER NOT NULL,
thread    TEXT NOT NULL,
read_at   INTEGER NOT NULL,
acked_at  INTEGER NOT NULL,
withdrawn INTEGER NOT NULL,
is_open   INTEGER NOT NULL,
shown_at  INTEGER NOT NULL,
PRIMARY KEY (room_id, agent_id, event_seq)
);

CREATE INDEX receipts_event ON receipts (event_seq, agent_id);

CREATE INDEX receipts_open ON receipts (room_id, agent_id, event_seq) WHERE is_open = 1;

CREATE INDEX events_from ON events (room_id, from_agent_id, event_seq);

CREATE INDEX events_task ON events (room_id, task_id, event_seq) WHERE task_id <> '';

CREATE TABLE notes (
event_seq   INTEGER PRIMARY KEY REFERENCES events (event_seq),
room_id     TEXT NOT NULL REFERENCES rooms (room_id),
author      TEXT NOT NULL,
turn_id     INTEGER NOT NULL,
body        TEXT NOT NULL,
created_at  INTEGER NOT NULL,
resolved_at INTEGER NOT NULL,
resolved_by TEXT NOT NULL
);

CREATE INDEX notes_room ON notes (room_id, event_seq);

CREATE INDEX notes_open ON notes (room_id, event_seq) WHERE resolved_at = 0;

CREATE TABLE reservations (
event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq),
room_id   TEXT NOT NULL REFERENCES rooms (room_id),
agent_id  TEXT NOT NULL,
pattern   TEXT NOT NULL,
prefix    TEXT NOT NULL,
task_id   TEXT NOT NULL,
ttl_ms    INTEGER NOT NULL,
made_at   INTEGER NOT NULL
);

CREATE INDEX reservations_prefix ON reservations (room_id, prefix, event_seq);

CREATE INDEX reservations_agent ON reservations (room_id, agent_id, event_seq);

CREATE TABLE tasks (
room_id      TEXT NOT NULL REFERENCES rooms (room_id),
task_key     TEXT NOT NULL,
task_id      TEXT NOT NULL,
state        TEXT NOT NULL,
attempt      INTEGER NOT NULL,
description  TEXT NOT NULL,
spec         TEXT NOT NULL,
branch       TEXT NOT NULL,
worktree     TEXT NOT NULL,
integration  TEXT NOT NULL,
base         TEXT NOT NULL,
head         TEXT NOT NULL,
patch        TEXT NOT NULL,
changes_gate INTEGER NOT NULL,
worker       TEXT NOT NULL,
earlier      TEXT NOT NULL,
spawned_by   TEXT NOT NULL,
approved     TEXT NOT NULL,
approved_by  TEXT NOT NULL,
approved_seq INTEGER NOT NULL,
result       TEXT NOT NULL,
cause        TEXT NOT NULL,
reason       TEXT NOT NULL,
created_at   INTEGER NOT NULL,
state_at     INTEGER NOT NULL,
last_seq     INTEGER NOT NULL,
heartbeat_at INTEGER NOT NULL, host_id TEXT NOT NULL DEFAULT '', checkout TEXT NOT NULL DEFAULT '', pr_number INTEGER NOT NULL DEFAULT 0, pr_url TEXT NOT NULL DEFAULT '', pr_state TEXT NOT NULL DEFAULT '', pr_head TEXT NOT NULL DEFAULT '', pr_commit TEXT NOT NULL DEFAULT '', later INTEGER NOT NULL DEFAULT 0, after_tasks TEXT NOT NULL DEFAULT '', slot INTEGER NOT NULL DEFAULT -1, waits_for TEXT NOT NULL DEFAULT '', labels TEXT NOT NULL DEFAULT '', priority INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (room_id, task_key)
);

CREATE INDEX tasks_queue ON tasks (room_id, approved_seq) WHERE state = 'APPROVED';

CREATE INDEX tasks_worker ON tasks (worker, room_id) WHERE worker <> '';

CREATE TABLE task_attempts (
room_id     TEXT NOT NULL,
task_key    TEXT NOT NULL,
attempt     INTEGER NOT NULL,
worker      TEXT NOT NULL,
assigned_at INTEGER NOT NULL,
started_at  INTEGER NOT NULL,
ended_at    INTEGER NOT NULL,
outcome     TEXT NOT NULL,
PRIMARY KEY (room_id, task_key, attempt),
FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);

CREATE TABLE reviews (
event_seq INTEGER PRIMARY KEY REFERENCES events (event_seq),
room_id   TEXT NOT NULL,
task_key  TEXT NOT NULL,
attempt   INTEGER NOT NULL,
reviewer  TEXT NOT NULL,
verdict   TEXT NOT NULL,
head      TEXT NOT NULL,
body      TEXT NOT NULL,
report    TEXT NOT NULL,
at        INTEGER NOT NULL,
FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);

CREATE INDEX reviews_task ON reviews (room_id, task_key, event_seq);

CREATE TABLE task_views (
room_id  TEXT NOT NULL,
task_key TEXT NOT NULL,
agent_id TEXT NOT NULL,
head     TEXT NOT NULL,
seen_at  INTEGER NOT NULL,
PRIMARY KEY (room_id, task_key, agent_id)
);

CREATE TABLE task_runs (
room_id    TEXT NOT NULL,
task_key   TEXT NOT NULL,
attempt    INTEGER NOT NULL,
command    TEXT NOT NULL,
machine    TEXT NOT NULL,
boot       TEXT NOT NULL,
pid_ns     TEXT NOT NULL,
pid        INTEGER NOT NULL,
start_time INTEGER NOT NULL,
started_at INTEGER NOT NULL,
ended_at   INTEGER NOT NULL,
exit       INTEGER NOT NULL,
output     TEXT NOT NULL, run INTEGER NOT NULL DEFAULT 1, started_by TEXT NOT NULL DEFAULT '', exit_signal TEXT NOT NULL DEFAULT '', stop_at INTEGER NOT NULL DEFAULT 0, stopped_by TEXT NOT NULL DEFAULT '', restarts INTEGER NOT NULL DEFAULT 0, task_at INTEGER NOT NULL DEFAULT 0, queued INTEGER NOT NULL DEFAULT 0, retries INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0, limited INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (room_id, task_key, attempt)
);

CREATE TABLE intents (
intent_id  TEXT PRIMARY KEY,
room_id    TEXT NOT NULL REFERENCES rooms (room_id),
task_key   TEXT NOT NULL,
attempt    INTEGER NOT NULL,
kind       TEXT NOT NULL,
agent_id   TEXT NOT NULL,
data       TEXT NOT NULL,
pid        INTEGER NOT NULL,
started_at INTEGER NOT NULL,
ended_at   INTEGER NOT NULL,
outcome    TEXT NOT NULL
, host_id TEXT NOT NULL DEFAULT '', checkout TEXT NOT NULL DEFAULT '', renewed_at INTEGER NOT NULL DEFAULT 0);

CREATE UNIQUE INDEX intents_open ON intents (room_id, task_key) WHERE ended_at = 0;

CREATE TABLE blobs (
sum        TEXT PRIMARY KEY,
size       INTEGER NOT NULL,
created_at INTEGER NOT NULL
);

CREATE TABLE boots (
machine TEXT NOT NULL,
boot    TEXT NOT NULL,
PRIMARY KEY (boot, machine)
);

CREATE TABLE edits (
room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
checkout  TEXT    NOT NULL,
path      TEXT    NOT NULL,
editors   TEXT    NOT NULL,
sum       TEXT    NOT NULL,
size      INTEGER NOT NULL,
mod_time  INTEGER NOT NULL,
inode     INTEGER NOT NULL,
mode      INTEGER NOT NULL,
asleep_at INTEGER NOT NULL,
PRIMARY KEY (room_id, checkout, path)
);

CREATE TABLE commits (
room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
commit_id TEXT    NOT NULL,
made_by   TEXT    NOT NULL,
made_at   INTEGER NOT NULL,
PRIMARY KEY (room_id, commit_id)
);

CREATE INDEX commits_by_time ON commits (room_id, made_at);

CREATE TABLE hosts (
host_id TEXT NOT NULL PRIMARY KEY,
name    TEXT NOT NULL UNIQUE
);

CREATE TABLE host_boots (
host_id  TEXT    NOT NULL,
boot     TEXT    NOT NULL,
began_at INTEGER NOT NULL,
seen_at  INTEGER NOT NULL,
ended_at INTEGER NOT NULL,
PRIMARY KEY (host_id, boot)
);

CREATE TABLE checkouts (
host_id TEXT NOT NULL,
path    TEXT NOT NULL,
room_id TEXT NOT NULL REFERENCES rooms (room_id),
PRIMARY KEY (host_id, path)
);

CREATE INDEX checkouts_by_room ON checkouts (room_id, host_id);

CREATE TABLE drafts (
room_id  TEXT NOT NULL REFERENCES rooms (room_id),
turn_id  INTEGER NOT NULL,
agent_id TEXT NOT NULL,
saved_at INTEGER NOT NULL,
body     TEXT NOT NULL,
handoff  TEXT NOT NULL,
PRIMARY KEY (room_id, turn_id)
);

CREATE TABLE accepted_commands (
room_id     TEXT NOT NULL REFERENCES rooms (room_id),
key         TEXT NOT NULL,
sum         TEXT NOT NULL,
agent_id    TEXT NOT NULL,
accepted_at INTEGER NOT NULL,
PRIMARY KEY (room_id, key)
);

CREATE INDEX tasks_slots ON tasks (room_id, slot) WHERE slot >= 0 AND state <> 'COMPLETED' AND state <> 'FAILED';

CREATE TABLE task_setups (
room_id    TEXT NOT NULL,
task_key   TEXT NOT NULL,
attempt    INTEGER NOT NULL,
command    TEXT NOT NULL,
started_at INTEGER NOT NULL,
ended_at   INTEGER NOT NULL,
exit       INTEGER NOT NULL,
output     TEXT NOT NULL,
PRIMARY KEY (room_id, task_key, attempt)
);

CREATE TABLE comments (
room_id     TEXT NOT NULL,
task_key    TEXT NOT NULL,
comment_id  INTEGER NOT NULL,
author      TEXT NOT NULL,
base        TEXT NOT NULL,
head        TEXT NOT NULL,
path        TEXT NOT NULL,
is_old      INTEGER NOT NULL,
first_line  INTEGER NOT NULL,
last_line   INTEGER NOT NULL,
around      TEXT NOT NULL,
body        TEXT NOT NULL,
created_at  INTEGER NOT NULL,
event_seq   INTEGER NOT NULL,
resolved_at INTEGER NOT NULL,
resolved_by TEXT NOT NULL,
PRIMARY KEY (room_id, task_key, comment_id),
FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);

CREATE TABLE past_runs (
room_id     TEXT NOT NULL,
task_key    TEXT NOT NULL,
attempt     INTEGER NOT NULL,
run         INTEGER NOT NULL,
command     TEXT NOT NULL,
machine     TEXT NOT NULL,
boot        TEXT NOT NULL,
pid_ns      TEXT NOT NULL,
pid         INTEGER NOT NULL,
start_time  INTEGER NOT NULL,
started_at  INTEGER NOT NULL,
ended_at    INTEGER NOT NULL,
exit        INTEGER NOT NULL,
output      TEXT NOT NULL,
started_by  TEXT NOT NULL,
exit_signal TEXT NOT NULL,
stop_at     INTEGER NOT NULL,
stopped_by  TEXT NOT NULL,
restarts    INTEGER NOT NULL,
task_at     INTEGER NOT NULL, queued INTEGER NOT NULL DEFAULT 0, retries INTEGER NOT NULL DEFAULT 0, retry_at INTEGER NOT NULL DEFAULT 0, limited INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (room_id, task_key, attempt, run)
);

CREATE TABLE notices (
room_id  TEXT NOT NULL REFERENCES rooms (room_id),
agent_id TEXT NOT NULL,
key      TEXT NOT NULL,
told_at  INTEGER NOT NULL,
PRIMARY KEY (room_id, agent_id, key)
);

CREATE INDEX tasks_maybe_ready ON tasks (room_id, created_at, task_key) WHERE later = 1 AND state = 'ASSIGNED' AND waits_for = '';

CREATE INDEX tasks_that_wait ON tasks (room_id, waits_for) WHERE waits_for <> '';

CREATE TABLE calls (
room_id    TEXT    NOT NULL REFERENCES rooms (room_id),
call_id    INTEGER NOT NULL,
checkout   TEXT    NOT NULL,
agent_id   TEXT    NOT NULL,
helper     TEXT    NOT NULL,
tool       TEXT    NOT NULL,
command    TEXT    NOT NULL,
call_key   TEXT    NOT NULL,
before_id  TEXT    NOT NULL,
after_id   TEXT    NOT NULL,
files      INTEGER NOT NULL,
overlapped INTEGER NOT NULL,
started_at INTEGER NOT NULL,
ended_at   INTEGER NOT NULL, noted INTEGER NOT NULL DEFAULT 0, late INTEGER NOT NULL DEFAULT 0,
PRIMARY KEY (room_id, call_id)
);

CREATE TABLE stashes (
room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
commit_id TEXT    NOT NULL,
checkout  TEXT    NOT NULL,
made_by   TEXT    NOT NULL,
made_at   INTEGER NOT NULL,
PRIMARY KEY (room_id, commit_id)
);

CREATE INDEX stashes_by_time ON stashes (room_id, made_at);

CREATE TABLE reads (
room_id  TEXT    NOT NULL REFERENCES rooms (room_id),
agent_id TEXT    NOT NULL,
helper   TEXT    NOT NULL,
checkout TEXT    NOT NULL,
path     TEXT    NOT NULL,
sum      TEXT    NOT NULL,
size     INTEGER NOT NULL,
mod_time INTEGER NOT NULL,
inode    INTEGER NOT NULL,
mode     INTEGER NOT NULL,
wrote    INTEGER NOT NULL,
refused  TEXT    NOT NULL,
read_at  INTEGER NOT NULL,
PRIMARY KEY (room_id, agent_id, helper, checkout, path)
);

CREATE INDEX reads_by_time ON reads (room_id, read_at);

CREATE TABLE tellings (
room_id   TEXT    NOT NULL REFERENCES rooms (room_id),
agent_id  TEXT    NOT NULL,
call_sum  TEXT    NOT NULL,
plan      TEXT    NOT NULL,
made_at   INTEGER NOT NULL,
PRIMARY KEY (room_id, agent_id, call_sum)
);

CREATE INDEX calls_open ON calls (agent_id, room_id, checkout) WHERE ended_at = 0;

CREATE INDEX calls_noted ON calls (room_id, checkout) WHERE noted = 1;

CREATE INDEX calls_of_checkout ON calls (room_id, checkout, ended_at);

CREATE INDEX calls_late ON calls (room_id, checkout) WHERE late = 1;

CREATE INDEX members_name ON members (name);

CREATE INDEX receipts_owed ON receipts (room_id, agent_id, owes, read_at) WHERE is_open = 1;

CREATE TABLE checkpoints (
room_id   TEXT PRIMARY KEY REFERENCES rooms (room_id),
event_seq INTEGER NOT NULL,
pruned_to INTEGER NOT NULL,
turn_id   INTEGER NOT NULL,
state     TEXT NOT NULL
);

INSERT INTO counters (name, value) VALUES ('event_seq', 0);
