package store_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/talk"
)

func TestCheckFindsDamage(t *testing.T) {
	for _, c := range []struct {
		name, tamper, says string
	}{
		{"a changed event", "UPDATE events SET reason = 'another' WHERE event_seq = 4", "event 4: its sum"},
		{
			"a changed handoff",
			`UPDATE events SET handoff = replace(handoff, 'your part', 'nothing') WHERE event_seq = 4`,
			"event 4: its sum",
		},
		{"a changed time", "UPDATE events SET created_at = created_at + 1 WHERE event_seq = 2", "event 2: its sum"},
		{"a lost event", "DELETE FROM events WHERE event_seq = 3", "event 4: its sum"},
		{"a lost last event", "DELETE FROM events WHERE event_seq = 6", "its last event is 6, and the log ends with 5"},
		{"a lost first event", "DELETE FROM events WHERE event_seq = 1", "event 2: its sum"},
		{"a log that is empty", "DELETE FROM events", "its last event is 6, and the log ends with 0"},
		{
			"two events swapped",
			"UPDATE events SET event_seq = CASE event_seq WHEN 3 THEN -4 ELSE -3 END WHERE event_seq IN (3, 4); UPDATE events SET event_seq = -event_seq WHERE event_seq < 0",
			"event 3: its sum",
		},
		{"a wrong owner", "UPDATE rooms SET owner = 'codex:b'", "owner is codex:b"},
		{"a wrong state", "UPDATE rooms SET state = 'owned'", "state is owned"},
		{"a wrong turn", "UPDATE rooms SET turn_id = turn_id + 1", "turn_id is 3, and the log says 2"},
		{"a wrong lease", "UPDATE rooms SET lease_id = 'x'", "lease is"},
		{"a lost handoff", "UPDATE rooms SET handoff_event_seq = 0", "handoff_event_seq is 0"},
		{"a handoff that waits no longer", "UPDATE rooms SET handoff_pending = 0", "handoff_pending is false"},
		{"a reservation that nobody made", "UPDATE rooms SET reserved_for = 'claude:a'", "reserved_for is claude:a"},
		{"a closed room", "UPDATE rooms SET closed = 1", "closed is true"},
		{
			"a member that left",
			"UPDATE members SET state = 'left' WHERE agent_id = 'codex:b'",
			"member codex:b is {left",
		},
		{
			"a member that never joined",
			"INSERT INTO members SELECT room_id, 'gemini:x', 9, 'joined', 0, 0, 0, 0, 0, 0, 0, '', '', 0, 0, '', '', 0, 0, '' FROM rooms",
			"member gemini:x is {joined 9 0 0 }, and the log says { 0 0 0 }",
		},
		{"a member lost", "DELETE FROM members WHERE agent_id = 'codex:b'", "the number of members is 1"},
		{
			"a member's place",
			"UPDATE members SET ordinal = 5 WHERE agent_id = 'codex:b'",
			"member codex:b is {joined 5",
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				played(t, db)
				requireFound(t, db, c.tamper, c.says)
			}, storetest.Damaged())
		})
	}
}

// TestCheckFindsDamagedPost: the check compares stored receipts and notes with the log.
func TestCheckFindsDamagedPost(t *testing.T) {
	for _, c := range []struct {
		name, tamper, says string
	}{
		{
			"read by nobody",
			"UPDATE receipts SET read_at = 5, is_open = 0 WHERE agent_id = 'gemini:c' AND event_seq = 8",
			"the receipt of gemini:c for message 8 isn't",
		},
		{
			"read at another time",
			"UPDATE receipts SET read_at = read_at + 1 WHERE agent_id = 'codex:b' AND event_seq = 8",
			"the receipt of codex:b for message 8 isn't",
		},
		{
			"read, and it was not",
			"UPDATE receipts SET read_at = 0, is_open = 1 WHERE agent_id = 'codex:b' AND event_seq = 8",
			"the receipt of codex:b for message 8 isn't",
		},
		{
			"accepted by nobody",
			"UPDATE receipts SET read_at = 5, acked_at = 5, is_open = 0 WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of gemini:c for message 9 isn't",
		},
		{
			"accepted, and it was not",
			"UPDATE receipts SET acked_at = 0, is_open = 1 WHERE agent_id = 'codex:b' AND event_seq = 9",
			"the receipt of codex:b for message 9 isn't",
		},
		{
			"taken back by nobody",
			"UPDATE receipts SET withdrawn = 1, is_open = 0 WHERE agent_id = 'gemini:c' AND event_seq = 8",
			"the receipt of gemini:c for message 8 isn't",
		},
		{
			"not taken back",
			"UPDATE receipts SET withdrawn = 0, is_open = 1 WHERE event_seq = 10",
			"the receipt of codex:b for message 10 isn't",
		},
		{
			"owing more",
			"UPDATE receipts SET owes = 2 WHERE agent_id = 'gemini:c' AND event_seq = 8",
			"the receipt of gemini:c for message 8 isn't",
		},
		{
			"owing nothing",
			"UPDATE receipts SET owes = 0 WHERE agent_id = 'gemini:c' AND event_seq = 8",
			"the receipt of gemini:c for message 8 isn't",
		},
		{
			"open, and it is not",
			"UPDATE receipts SET is_open = 1 WHERE agent_id = 'codex:b' AND event_seq = 9",
			"the receipt of codex:b for message 9 isn't",
		},
		{
			"hidden from an inbox",
			"UPDATE receipts SET is_open = 0 WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of gemini:c for message 9 isn't",
		},
		{
			"a lost receipt",
			"DELETE FROM receipts WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"it lacks 1 receipt of its log",
		},
		{"all receipts lost", "DELETE FROM receipts", "it lacks 8 receipts of its log"},
		{
			"a receipt of somebody else",
			"UPDATE receipts SET agent_id = 'claude:a' WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of claude:a for message 9 isn't",
		},
		{
			"a receipt too many",
			"INSERT INTO receipts SELECT room_id, 'claude:a', 9, 1, '', 0, 0, 0, 1, 0 FROM rooms WHERE canonical_path = '/work'",
			"the receipt of claude:a for message 9 isn't",
		},
		{
			"a receipt of another message",
			"UPDATE receipts SET event_seq = 3 WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of gemini:c for message 3 isn't",
		},
		{
			"a receipt in another room",
			"UPDATE receipts SET room_id = (SELECT room_id FROM rooms WHERE canonical_path = '/other') WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of gemini:c for message 9 isn't",
		},
		{
			"a message counted twice",
			"UPDATE rooms SET messages = messages + 1 WHERE canonical_path = '/work'",
			"messages is 4, and the log says 3",
		},
		{
			"another thread",
			"UPDATE receipts SET thread = 'x' WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"the receipt of gemini:c for message 9 isn't",
		},
		{"a lost receipt of a pass", "DELETE FROM receipts WHERE owes = 0", "it lacks "},
		{"a changed note", "UPDATE notes SET body = 'forget'", "note 14 isn't what the log says"},
		{
			"a note of another author",
			"UPDATE notes SET author = 'codex:b' WHERE event_seq = 14",
			"note 14 isn't what the log says",
		},
		{
			"a note about another turn",
			"UPDATE notes SET turn_id = 0 WHERE event_seq = 14",
			"note 14 isn't what the log says",
		},
		{
			"a note of another time",
			"UPDATE notes SET created_at = created_at + 1 WHERE event_seq = 14",
			"note 14 isn't what the log says",
		},
		{
			"a note done by nobody",
			"UPDATE notes SET resolved_at = 1, resolved_by = 'codex:b' WHERE event_seq = 14",
			"note 14 isn't what the log says",
		},
		{
			"a note done by another",
			"UPDATE notes SET resolved_by = 'gemini:c' WHERE event_seq = 15",
			"note 15 isn't what the log says",
		},
		{
			"a note open again",
			"UPDATE notes SET resolved_at = 0, resolved_by = '' WHERE event_seq = 15",
			"note 15 isn't what the log says",
		},
		{"a lost note", "DELETE FROM notes WHERE event_seq = 14", "it has 1 note, and the log says 2"},
		{
			"a note too many",
			"INSERT INTO notes SELECT 3, room_id, 'claude:a', 0, 'x', 0, 0, '' FROM rooms WHERE canonical_path = '/work'",
			"note 3 isn't what the log says",
		},
		{
			"a note in another room",
			"UPDATE notes SET room_id = (SELECT room_id FROM rooms WHERE canonical_path = '/other') WHERE event_seq = 14",
			"it has 1 note, and the log says 2",
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				written(t, db)
				requireFound(t, db, c.tamper, c.says)
			}, storetest.Damaged())
		})
	}
}

// TestCheckFindsWhatSQLiteAllows: SQLite checks the references between tables only on connections that ask
// for it, and counts events in a row.
func TestCheckFindsWhatSQLiteAllows(t *testing.T) {
	for _, c := range []struct {
		name, tamper, says string
	}{
		{
			"an event in another room",
			"UPDATE events SET room_id = 'room-x' WHERE event_seq = 3",
			"names something that isn't in rooms",
		},
		{
			"a counter too low",
			"UPDATE counters SET value = 5 WHERE name = 'event_seq'",
			"event 17 lies beyond the counter, which stands at 5",
		},
		{
			"a listener of no room",
			"INSERT INTO listeners VALUES ('l', 'room-x', 'a', 'work', '', '', '', 0, 0, 0, 0)",
			"listeners names something that isn't in rooms",
		},
		{
			"a receipt of no message",
			"UPDATE receipts SET event_seq = 999 WHERE agent_id = 'gemini:c' AND event_seq = 9",
			"receipts names something that isn't in events",
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
				written(t, db)
				requireFound(t, db, c.tamper, c.says)
			}, storetest.Damaged())
		})
	}
}

// TestDB_CheckShowing: a check says how many events it has replayed, of how many.
func TestDB_CheckShowing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		join(t, db, newRoom(t, db, "/elsewhere").ID, "claude:a")

		var shown [][2]int64
		found, err := db.CheckShowing(ctx, func(replayed, all int64) { shown = append(shown, [2]int64{replayed, all}) })
		if err != nil || len(found) > 0 {
			t.Fatalf("found %q (%v)", found, err)
		}

		if want := [][2]int64{{1, 7}, {2, 7}, {3, 7}, {4, 7}, {5, 7}, {6, 7}, {7, 7}}; !slices.Equal(shown, want) {
			t.Errorf("shown: %v, want %v", shown, want)
		}
	})
}

// requireFound changes a sound database and fails the test unless the check then says what is wrong.
func requireFound(t *testing.T, db *store.DB, tamper, says string) {
	t.Helper()
	if found, err := db.Check(ctx); err != nil || len(found) > 0 {
		t.Fatalf("found in a sound database: %q (%v)", found, err)
	}

	storetest.Exec(t, db, tamper)
	found, err := db.Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(found, "\n"); !strings.Contains(all, says) {
		t.Errorf("the check doesn't say %q; it says:\n%s", says, all)
	}
}

// written adds to the room of played a third member (7), a message that one of two has read (8),
// one that one of two has accepted (9), one that was taken back (10), what was done with them (11
// to 13), and two notes, of which one is resolved (14 to 16).
func written(t *testing.T, db *store.DB) {
	t.Helper()
	id := played(t, db)
	join(t, db, id, "gemini:c")

	sent := []stick.Event{
		send(t, db, id, talk.Sending{
			By: "claude:a", Message: stick.Message{To: []stick.AgentID{stick.ToRoom}, Body: "know"},
		}),
		send(t, db, id, talk.Sending{
			By:      "claude:a",
			Message: stick.Message{To: []stick.AgentID{"codex:b", "gemini:c"}, Body: "do", RequiresAck: true},
		}),
		send(t, db, id, talk.Sending{
			By: "claude:a", Message: stick.Message{To: []stick.AgentID{"codex:b"}, Body: "don't"},
		}),
	}

	update(t, db, func(tx *store.Tx) error {
		r, err := tx.Room(id)
		if err != nil {
			return err
		}
		read, events := talk.Read(r, "codex:b", sent[0],
			stick.Receipt{Event: sent[0].Seq, Agent: "codex:b", Owes: stick.OwesReading}, tx.Now())
		acked, more, err := talk.Ack(r, "codex:b", sent[1],
			stick.Receipt{Event: sent[1].Seq, Agent: "codex:b", Owes: stick.OwesAck}, tx.Now())
		taken, last := talk.Withdraw(r, "claude:a", []stick.Receipt{
			{Event: sent[2].Seq, Agent: "codex:b", Owes: stick.OwesReading},
		})
		_, _, saved := tx.Save(r, r, append(append(events, more...), last...))
		return try(err, saved, tx.PutReceipt(id, read), tx.PutReceipt(id, acked), tx.PutReceipt(id, taken[0]))
	})

	note(t, db, id, "claude:a", "remember", true)
	resolve(t, db, id, "codex:b", note(t, db, id, "claude:a", "do", false))
	join(t, db, newRoom(t, db, "/other").ID, "claude:a")
}

// TestCheckWritesNothing: one can check a database that must not change.
func TestCheckWritesNothing(t *testing.T) {
	storetest.OnSQLite(t, func(t *testing.T, db *store.DB) {
		played(t, db)
		raw := storetest.Raw(t, db)
		raw.SetMaxOpenConns(1)
		var before, after int
		if err := raw.QueryRow("PRAGMA data_version").Scan(&before); err != nil {
			t.Fatal(err)
		}

		if _, err := db.Check(ctx); err != nil {
			t.Fatal(err)
		}
		if err := raw.QueryRow("PRAGMA data_version").Scan(&after); err != nil || after != before {
			t.Errorf("the check wrote something (%v)", err)
		}
	})
}
