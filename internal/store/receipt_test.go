package store_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

// send sends a message.
func send(t *testing.T, db *store.DB, id stick.RoomID, q talk.Sending) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		r, events, err := talk.Send(r, q, blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[0]
}

// TestInboxQueries compares queries, each filter alone and random ones together, with what a loop over all
// that was sent finds.
func TestInboxQueries(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p := newPost(t, db, clock)
		last := p.log[len(p.log)-1].Seq
		someone := rapid.SampledFrom(append([]stick.AgentID{"", "", "", "", "nobody"}, postmen...))
		states := rapid.SampledFrom([]stick.ReceiptState{stick.Unread, stick.Read, stick.Acked, stick.Withdrawn})
		found := map[stick.ReceiptState]bool{}
		compare := func(t interface{ Errorf(string, ...any) }, q store.InboxQuery) {
			var want []store.InboxEntry
			for _, d := range p.deliveries {
				state := d.stands()
				if d.Owes != stick.OwesNothing &&
					(q.Agent == "" || d.Agent == q.Agent) &&
					(q.From == "" || d.From == q.From) &&
					(q.Task == "" || d.Task == q.Task) && (q.Thread == "" || d.Thread == q.Thread) && d.Seq > q.After &&
					(len(q.States) == 0 || slices.Contains(q.States, state)) && (!q.Open || d.owed()) {
					want = append(want, store.InboxEntry{Event: d.Event, Receipt: d.Receipt})
					found[state] = true
				}
			}

			slices.SortStableFunc(want, func(a, b store.InboxEntry) int {
				return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Agent, b.Agent))
			})
			more := len(want) > q.Limit
			if more && q.After > 0 { // the oldest behind it, else the newest
				want = want[:q.Limit]
			} else if more {
				want = want[len(want)-q.Limit:]
			}

			err := db.View(ctx, func(tx *store.Tx) error {
				got, gotMore, err := tx.Inbox(q)
				if diff := gocmp.Diff(want, got); diff != "" || gotMore != more {
					t.Errorf("%+v: more %v, want %v\n%s", q, gotMore, more, diff)
				}
				return err
			})
			if err != nil {
				t.Errorf("%+v: %v", q, err)
			}
		}

		all := store.InboxQuery{Room: p.room, Limit: 1000}
		for _, alone := range []func(*store.InboxQuery){
			func(q *store.InboxQuery) {},
			func(q *store.InboxQuery) { q.Agent = "gemini:c" },
			func(q *store.InboxQuery) { q.Open = true },
			func(q *store.InboxQuery) { q.From = "claude:a" },
			func(q *store.InboxQuery) { q.Task = "T1" },
			func(q *store.InboxQuery) { q.Thread = "one" },
			func(q *store.InboxQuery) { q.After = last / 3 },
			func(q *store.InboxQuery) { q.Limit = 5 },
			func(q *store.InboxQuery) { q.States = []stick.ReceiptState{stick.Unread} },
			func(q *store.InboxQuery) { q.States = []stick.ReceiptState{stick.Read} },
			func(q *store.InboxQuery) { q.States = []stick.ReceiptState{stick.Acked} },
			func(q *store.InboxQuery) { q.States = []stick.ReceiptState{stick.Withdrawn} },
		} {
			q := all
			alone(&q)
			compare(t, q)
		}

		rapid.Check(t, func(rt *rapid.T) {
			compare(rt, store.InboxQuery{
				Room: p.room, Agent: someone.Draw(rt, "agent"), States: rapid.SliceOfN(states, 0, 2).Draw(rt, "states"),
				Open: rapid.IntRange(0, 3).Draw(rt, "open") == 0, From: someone.Draw(rt, "from"),
				Task:   rapid.SampledFrom([]string{"", "", "", "T1", "T2", "T9"}).Draw(rt, "task"),
				Thread: rapid.SampledFrom([]string{"", "", "", "one", "two", "nine"}).Draw(rt, "thread"),
				After:  rapid.SampledFrom([]int64{0, 0, 0, last / 4, last / 3, last}).Draw(rt, "after"),
				Limit:  rapid.SampledFrom([]int{1, 3, 10, 1000}).Draw(rt, "limit"),
			})
		})

		if len(found) != 4 {
			t.Errorf("only messages in the states %v were found", found)
		}
	}, storetest.At(clock))
}

// TestReceipts compares all stored receipts with what was done.
func TestReceipts(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p := newPost(t, db, clock)
		view(t, db, func(tx *store.Tx) error {
			for _, e := range p.log {
				var want []stick.Receipt
				for _, d := range p.deliveries {
					if d.Seq == e.Seq {
						want = append(want, d.Receipt)
					}
				}

				got, err := tx.Receipts(e.Seq)
				if diff := gocmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("the receipts of event %d, %s (%v):\n%s", e.Seq, e.Type, err, diff)
				}

				for _, a := range postmen {
					var want stick.Receipt
					d := p.at(e.Seq, a)
					if d != nil {
						want = d.Receipt
					}
					if got, ok, err := tx.Receipt(p.room, a, e.Seq); got != want || ok != (d != nil) || err != nil {
						t.Errorf("the receipt of %s for event %d is %+v (%v, %v), want %+v",
							a, e.Seq, got, ok, err, want)
					}
				}
			}

			for _, a := range append(postmen, "nobody") {
				unread, unacked := 0, 0
				var owed []stick.Receipt
				for _, d := range p.deliveries {
					if d.Agent != a || !d.owed() {
						continue
					}
					if d.ReadAt == 0 {
						unread++
					}

					if d.Owes == stick.OwesAck {
						unacked++
						owed = append(owed, d.Receipt)
					}
				}

				if gotUnread, gotUnacked, err := tx.CountOpen(p.room, a); gotUnread != unread ||
					gotUnacked != unacked ||
					err != nil {
					t.Errorf("%s has %d unread and %d to acknowledge (%v), want %d and %d",
						a, gotUnread, gotUnacked, err, unread, unacked)
				}
				if a != "nobody" && (unread == 0 || unacked == 0) {
					t.Errorf("%s has %d unread and %d to acknowledge: that shows little", a, unread, unacked)
				}

				got, err := tx.OpenReceipts(p.room, a)
				if diff := gocmp.Diff(owed, got); diff != "" || err != nil {
					t.Errorf("what %s owes (%v):\n%s", a, err, diff)
				}
				if unread, unacked, err := tx.CountOpen("room-nobody", a); unread+unacked > 0 || err != nil {
					t.Errorf("in another room, %s has %d unread and %d to acknowledge (%v)", a, unread, unacked, err)
				}
			}

			return nil
		})
	}, storetest.At(clock))
}

// TestShownKeepsTheFirstTime: an event that is shown twice keeps the time of the first.
func TestShownKeepsTheFirstTime(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		sent := send(t, db, id, talk.Sending{
			By: "claude:a", Message: stick.Message{To: []stick.AgentID{stick.ToRoom}, Body: "hello"},
		})
		first := stick.At(clock.Now())

		for range 3 {
			update(t, db, func(tx *store.Tx) error {
				return try(tx.MarkShown(id, "codex:b", sent.Seq), tx.MarkShown(id, "claude:a", sent.Seq),
					tx.MarkShown(id, "codex:b", 999))
			})
			clock.Move(time.Minute)
		}

		view(t, db, func(tx *store.Tx) error {
			all, err := tx.Receipts(sent.Seq)
			want := []stick.Receipt{{Event: sent.Seq, Agent: "codex:b", Owes: stick.OwesReading, ShownAt: first}}
			if diff := gocmp.Diff(want, all); diff != "" {
				t.Errorf("the receipts:\n%s", diff)
			}
			return err
		})
	}, storetest.At(clock))
}

// TestPutReceiptLeavesTheRest: storing a receipt changes neither when the event was shown nor another agent's
// receipt.
func TestPutReceiptLeavesTheRest(t *testing.T) {
	clock := storetest.NewClock()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		join(t, db, id, "gemini:c")
		sent := send(t, db, id, talk.Sending{
			By:      "claude:a",
			Message: stick.Message{To: []stick.AgentID{stick.ToRoom}, Body: "hello", RequiresAck: true},
		})
		shown := stick.At(clock.Now())
		update(t, db, func(tx *store.Tx) error { return tx.MarkShown(id, "codex:b", sent.Seq) })
		clock.Move(time.Minute)
		c := stick.Receipt{
			Event: sent.Seq, Agent: "codex:b", Owes: stick.OwesAck, ReadAt: 7, AckedAt: 8, Withdrawn: true,
		}
		update(t, db, func(tx *store.Tx) error { return tx.PutReceipt(id, c) })
		c.ShownAt = shown
		want := []stick.Receipt{c, {Event: sent.Seq, Agent: "gemini:c", Owes: stick.OwesAck}}
		view(t, db, func(tx *store.Tx) error {
			all, err := tx.Receipts(sent.Seq)
			if diff := gocmp.Diff(want, all); diff != "" {
				t.Errorf("the receipts:\n%s", diff)
			}
			return err
		})
	}, storetest.At(clock), storetest.Damaged()) // nobody wrote into the log that it was read
}
