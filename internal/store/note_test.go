package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// note leaves a note.
func note(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID, body string, aboutTurn bool) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		events, err := talk.AddNote(r, a, body, aboutTurn)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[0]
}

// resolve resolves the note that an event added.
func resolve(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID, added stick.Event) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		return r, talk.ResolveNote(r, a, talk.NoteOf(added))
	})
	return events[0]
}

func TestNotes(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id, other := played(t, db), newRoom(t, db, "/other").ID // turn 2 has ended, turn 3 will come
		join(t, db, other, "codex:b")
		var want []stick.Note
		var added []stick.Event
		add := func(a stick.AgentID, body string, about int64) {
			t.Helper()
			clock.Move(time.Second)
			e := note(t, db, id, a, body, about != 0)
			added = append(added, e)
			want = append(want, stick.Note{
				ID: e.Seq, Author: a, Turn: about, Body: body, CreatedAt: stick.At(clock.Now()),
			})
		}

		done := func(i int, a stick.AgentID) {
			t.Helper()
			clock.Move(time.Second)
			resolve(t, db, id, a, added[i])
			want[i].ResolvedAt, want[i].ResolvedBy = stick.At(clock.Now()), a
		}

		add("claude:a", "of the room", 0)
		add("codex:b", "of the next turn: naïve \u2028 'quoted'\nline 2", 3)
		note(t, db, other, "codex:b", "elsewhere", false)
		add("codex:b", "of the room, done", 0)
		claim(t, db, id, "claude:a")
		add("claude:a", "of this turn", 3)
		add("claude:a", "of this turn, done", 3)
		done(4, "codex:b")
		done(2, "claude:a")
		pass(t, db, id, "claude:a", "codex:b")
		claim(t, db, id, "codex:b")
		add("codex:b", "of turn 4", 4)

		for _, c := range []struct {
			name  string
			q     store.NoteQuery
			want  []int
			more  bool
			count int
		}{
			{"all", store.NoteQuery{Limit: 9}, []int{0, 1, 2, 3, 4, 5}, false, 6},
			{"exactly as many as there are", store.NoteQuery{Limit: 6}, []int{0, 1, 2, 3, 4, 5}, false, 6},
			{"the newest", store.NoteQuery{Limit: 2}, []int{4, 5}, true, 6},
			{"open, of the room and turn 3", store.NoteQuery{Open: true, Turn: 3, Limit: 9}, []int{0, 1, 3}, false, 3},
			{"open, of the room and turn 4", store.NoteQuery{Open: true, Turn: 4, Limit: 9}, []int{0, 5}, false, 2},
			{"open, of the room and no turn", store.NoteQuery{Open: true, Limit: 9}, []int{0}, false, 1},
			{"the newest that is open", store.NoteQuery{Open: true, Turn: 3, Limit: 1}, []int{3}, true, 3},
			{
				"a turn doesn't matter unless only open ones are asked for",
				store.NoteQuery{Turn: 4, Limit: 9},
				[]int{0, 1, 2, 3, 4, 5},
				false,
				6,
			},
			{"one", store.NoteQuery{ID: want[2].ID, Limit: 1}, []int{2}, false, 1},
			{"one, if it is open", store.NoteQuery{ID: want[2].ID, Open: true, Limit: 1}, nil, false, 0},
			{"an event that isn't a note", store.NoteQuery{ID: 1, Limit: 1}, nil, false, 0},
			{"another room's", store.NoteQuery{Room: other, ID: want[2].ID, Limit: 1}, nil, false, 0},
		} {
			view(t, db, func(tx *store.Tx) error {
				if c.q.Room == "" {
					c.q.Room = id
				}
				var notes []stick.Note
				for _, i := range c.want {
					notes = append(notes, want[i])
				}
				got, more, err := tx.Notes(c.q)
				if diff := cmp.Diff(notes, got); diff != "" || more != c.more || err != nil {
					t.Errorf("%s: more: %v, %v\n%s", c.name, more, err, diff)
				}
				if n, err := tx.CountNotes(c.q); n != c.count || err != nil {
					t.Errorf("%s: %d are counted (%v), want %d", c.name, n, err, c.count)
				}

				return nil
			})
		}
	}, storetest.At(clock))
}
