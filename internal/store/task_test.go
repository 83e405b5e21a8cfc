package store_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// say adds an event of a task to the log of a room.
func say(t *testing.T, db *store.DB, id stick.RoomID, e stick.Event, err error) stick.Event {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	r := load(t, db, id)
	var out []stick.Event
	update(t, db, func(tx *store.Tx) (err error) {
		_, out, err = tx.Save(r, r, []stick.Event{r.About(e)})
		return err
	})

	return out[0]
}

func task(t *testing.T, db *store.DB, id stick.RoomID, name string) (task stick.Task) {
	t.Helper()
	view(t, db, func(tx *store.Tx) (err error) {
		task, _, err = tx.Task(id, name)
		return err
	})
	return task
}

// reviewed makes a task, on which codex:b works and which claude:a approves.
func reviewed(t *testing.T, db *store.DB, id stick.RoomID, name string) {
	t.Helper()
	e, err := tasks.Spawn(task(t, db, id, name), tasks.Spawning{
		By: "claude:a", ID: name, Branch: "feat/" + name, Worktree: "worktrees/" + name, Integration: "main",
		Base: "b",
	})
	say(t, db, id, e, err)
	by := tasks.Call{By: "codex:b"}
	started, err := tasks.Start(task(t, db, id, name), by, false)
	say(t, db, id, *started, err)
	done, err := tasks.Done(task(t, db, id, name), by, tasks.Offering{Base: "b", Head: "h", Patch: "p"})
	say(t, db, id, *done, err)
	v := tasks.Decision{Call: tasks.Call{By: "claude:a"}, Head: "h", Branch: "h"}
	for _, body := range []string{"why?", "no tab"} {
		v.Drafts = append(v.Drafts, drafted(t, db, id, name, v, body))
	}
	approved, err := tasks.Approve(task(t, db, id, name), v, "good")
	say(t, db, id, *approved, err)
	resolved, err := tasks.Resolve(task(t, db, id, name), by, comments(t, db, id, name)[0])
	say(t, db, id, *resolved, err)
}

// forLater makes a task that nobody has begun, and that waits for others.
func forLater(t *testing.T, db *store.DB, id stick.RoomID, name string, after ...string) {
	t.Helper()
	e, err := tasks.Spawn(task(t, db, id, name), tasks.Spawning{
		By: "claude:a", ID: name, Branch: "feat/" + name, Worktree: "worktrees/" + name, Integration: "main",
		Later: true, After: after,
	})
	say(t, db, id, e, err)
}

// landed has a task land that was approved.
func landed(t *testing.T, db *store.DB, id stick.RoomID, name string) {
	t.Helper()
	e, err := tasks.Land(task(t, db, id, name), "claude:a", "h", "r")
	say(t, db, id, e, err)
}

// drafted stores a draft of a comment.
func drafted(t *testing.T, db *store.DB, id stick.RoomID, name string, v tasks.Decision, body string) stick.Comment {
	t.Helper()
	around := []stick.SourceLine{{Number: 1, Sign: "+", Text: "x"}}
	c, _, err := tasks.Comment(task(t, db, id, name),
		v,
		stick.Comment{
			Base: "b", Head: "h", Path: "a.go", Lines: stick.Lines{1, 1}, Around: around, Body: body,
			CreatedAt: task(t, db, id, name).CreatedAt + 5,
		},
		comments(t, db, id, name))
	if err != nil {
		t.Fatal(err)
	}
	update(t, db, func(tx *store.Tx) error { return tx.PutCommentDraft(id, name, c) })
	return c
}

// comments are those on a task.
func comments(t *testing.T, db *store.DB, id stick.RoomID, name string) (cs []stick.Comment) {
	t.Helper()
	view(t, db, func(tx *store.Tx) (err error) {
		cs, err = tx.Comments(id, name)
		return err
	})
	return cs
}

// TestComments: a draft isn't in the log, and may be dropped. A decision sends all drafts of its reviewer,
// and of nobody else.
func TestComments(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "one")
		drafted(t, db, id, "one", tasks.Decision{Call: tasks.Call{By: "gemini:c"}, Head: "h"}, "mine")
		cs := comments(t, db, id, "ONE")
		if len(cs) != 3 ||
			cs[0].Author != "claude:a" ||
			cs[0].Open() ||
			cs[0].ResolvedBy != "codex:b" ||
			!cs[1].Open() ||
			cs[1].Sent != cs[0].Sent ||
			!cs[2].Draft() ||
			cs[2].ID != 3 {
			t.Errorf("the comments are %+v", cs)
		}

		update(t, db, func(tx *store.Tx) error {
			return try(tx.DropCommentDraft(id, "one", 1), tx.DropCommentDraft(id, "one", 3))
		})
		if cs = comments(t, db, id, "one"); len(cs) != 2 {
			t.Errorf("after the draft was dropped there are %+v", cs)
		}

		view(t, db, func(tx *store.Tx) error {
			open, err := tx.OpenComments(id)
			if err == nil && (len(open) != 1 || open["one"] != 1) {
				t.Errorf("open are %v", open)
			}
			return err
		})
	})
}

// TestTasks stores tasks by their events. The check at the end of the test compares them with the log.
func TestTasks(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "One")
		reviewed(t, db, id, "two")
		var queue []stick.Task
		var reviews []stick.TaskReview
		view(t, db, func(tx *store.Tx) (err error) {
			if queue, err = tx.Queue(id); err != nil {
				return err
			}
			reviews, err = tx.Reviews(id, "ONE")
			return err
		})

		if len(queue) != 2 ||
			queue[0].ID != "One" ||
			queue[0].Approved != "h" ||
			queue[0].ApprovedBy != "claude:a" ||
			queue[1].ID != "two" {
			t.Errorf("the queue is %+v", queue)
		}
		if len(reviews) != 1 ||
			reviews[0].Body != "" && reviews[0].Body != "good" ||
			reviews[0].Decision != stick.EventTaskApproved {
			t.Errorf("the reviews are %+v", reviews)
		}

		landed(t, db, id, "one")
		if got := task(t, db, id, "ONE"); got.State != stick.TaskCompleted || got.Result != "r" {
			t.Errorf("it is %+v", got)
		}
	})
}

// TestTasksThatMayBeReady: whoever looks for a ready task doesn't read those that wait, and reads each again
// when what it waits for has landed. The names are in the order of the alphabet, in which those of one
// millisecond are listed.
func TestTasksThatMayBeReady(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		maybe := func(want ...string) {
			t.Helper()
			var got []string
			view(t, db, func(tx *store.Tx) error {
				later, err := tx.TasksMaybeReady(id)
				for _, l := range later {
					got = append(got, l.ID)
				}
				return err
			})

			if !slices.Equal(got, want) {
				t.Errorf("ready may be %q, and should be %q", got, want)
			}
		}

		reviewed(t, db, id, "One")
		reviewed(t, db, id, "two")
		forLater(t, db, id, "free")
		forLater(t, db, id, "Needs", "One")
		forLater(t, db, id, "twice", "One", "two")
		forLater(t, db, id, "last", "Needs")
		maybe("free")
		landed(t, db, id, "two")
		maybe("free")
		landed(t, db, id, "One")
		maybe("free", "Needs", "twice")
		forLater(t, db, id, "when", "two", "One")
		maybe("free", "Needs", "twice", "when")

		for _, after := range []string{"twice", "two"} {
			changed, err := tasks.SetAfter(task(t, db, id, "when"), "claude:a", []string{after})
			say(t, db, id, *changed, err)
			if after == "twice" {
				maybe("free", "Needs", "twice")
			}
		}
		maybe("free", "Needs", "twice", "when")
	})
}

// TestTaskOfAnotherAttempt: the store refuses an event that can't follow the stored state of its task.
func TestTaskOfAnotherAttempt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		reviewed(t, db, id, "one")
		old := task(t, db, id, "one")
		e, err := tasks.Land(old, "claude:a", "h", "r")
		say(t, db, id, e, err)
		r := load(t, db, id)
		err = db.Update(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.Save(r, r, []stick.Event{r.About(e)})
			return err
		})

		if err == nil {
			t.Error("a task landed twice")
		}
	})
}

// TestDamagedTask: the check finds a task that was changed without an event.
func TestDamagedTask(t *testing.T) {
	for name, text := range map[string]string{
		"state":   "UPDATE tasks SET state = 'FAILED'",
		"landed":  "UPDATE tasks SET waits_for = 'one' WHERE task_key = 'two'",
		"waits":   "UPDATE tasks SET waits_for = 'three' WHERE task_key = 'two'",
		"attempt": "UPDATE task_attempts SET worker = 'x'",
		"review":  "UPDATE reviews SET head = 'x'",
		"lost":    "DELETE FROM reviews",
		"comment": "UPDATE comments SET body = 'x'",
		"unsent":  "UPDATE comments SET event_seq = 0",
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				id := played(t, db)
				reviewed(t, db, id, "one")
				forLater(t, db, id, "two", "one")
				forLater(t, db, id, "three")
				landed(t, db, id, "one")
				storetest.Exec(t, db, text)
			}, storetest.Damaged())
		})
	}
}

// TestIntents: each task has at most one open intent, which ends once. Until then it can be renewed.
func TestIntents(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		put := func(i, task string) error {
			return db.Update(t.Context(), func(tx *store.Tx) error {
				return tx.PutIntent(store.Intent{ID: i, Room: id, Task: task, Kind: "done", Data: []byte(`{"x":1}`)})
			})
		}

		end := func(i string) error {
			return db.Update(t.Context(), func(tx *store.Tx) error { return tx.EndIntent(i, "done") })
		}

		renew := func(i string, want stick.Time) {
			t.Helper()
			clock.Move(time.Second)
			var open bool
			err := db.Update(t.Context(), func(tx *store.Tx) (err error) {
				open, err = tx.RenewIntent(i)
				return err
			})

			if err != nil || open != !want.IsZero() {
				t.Errorf("renewed %s: %v, %v", i, open, err)
			}

			view(t, db, func(tx *store.Tx) error {
				if got, _, err := tx.Intent(i); err != nil || got.RenewedAt != want {
					t.Errorf("%s was renewed at %v, %v; want %v", i, got.RenewedAt, err, want)
				}
				return nil
			})
		}

		for _, err := range []error{put("a", "one"), put("b", "two"), put("a", "one"), put("q", "")} {
			if err != nil {
				t.Fatal(err)
			}
		}

		if put("c", "one") == nil {
			t.Error("two things are done for a task at once")
		}
		renew("a", stick.At(clock.Now().Add(time.Second)))
		if err := end("a"); err != nil {
			t.Error(err)
		}

		renew("a", 0)
		if end("a") == nil {
			t.Error("an intent ended twice")
		}

		if err := put("c", "one"); err != nil {
			t.Error(err)
		}

		view(t, db, func(tx *store.Tx) error {
			for kind, want := range map[string]int{"done": 2, "land": 0} {
				if all, err := tx.IntentsOfKind(id, "ONE", kind); err != nil || len(all) != want {
					t.Errorf("%s: %v, %v; want %d", kind, all, err, want)
				}
			}
			return nil
		})
	}, storetest.At(clock))
}

func TestBlobs(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, content := range [][]byte{nil, []byte("\x00\xff\\x41")} {
			b, err := db.WriteBlob(content)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := db.ReadBlob(b.Sum); err != nil || string(got) != string(content) {
				t.Errorf("%q came back as %q (%v)", content, got, err)
			}
		}

		text := bytes.Repeat([]byte("a line\n"), 1000)
		b, err := db.WriteBlob(text)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := db.WriteBlob(text); err != nil || again != b {
			t.Errorf("the same content is %v, %v", again, err)
		}

		got, err := db.ReadBlob(b.Sum)
		if err != nil || cmp.Diff(text, got) != "" {
			t.Errorf("read %d bytes, %v", len(got), err)
		}

		for _, bad := range []string{"", "../../etc/passwd", b.Sum[:10], "x" + b.Sum[1:], "0" + b.Sum[1:]} {
			if _, err := db.ReadBlob(bad); bad != b.Sum && stick.CodeOf(err) != stick.CodeNotFound {
				t.Errorf("%q: %v", bad, err)
			}
		}
	})
}
