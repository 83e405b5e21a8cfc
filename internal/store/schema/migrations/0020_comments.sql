-- min_reader: 19
-- What reviewers say about lines of tasks' diffs. Derived once it was sent; a draft is evidence.

CREATE TABLE comments (
    room_id     TEXT NOT NULL,
    task_key    TEXT NOT NULL,
    comment_id  INTEGER NOT NULL, -- counts from 1 in its task
    author      TEXT NOT NULL,
    base        TEXT NOT NULL, -- the commits of the diff
    head        TEXT NOT NULL,
    path        TEXT NOT NULL,
    is_old      INTEGER NOT NULL, -- the lines are those before the change
    first_line  INTEGER NOT NULL,
    last_line   INTEGER NOT NULL,
    around      TEXT NOT NULL, -- a JSON list of the lines
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    event_seq   INTEGER NOT NULL, -- the decision that sent it; 0 for a draft
    resolved_at INTEGER NOT NULL,
    resolved_by TEXT NOT NULL,
    PRIMARY KEY (room_id, task_key, comment_id),
    FOREIGN KEY (room_id, task_key) REFERENCES tasks (room_id, task_key)
);
