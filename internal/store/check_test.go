package store_test

import (
	"strings"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
)

func TestCheckFindsDamage(t *testing.T) {
	for _, c := range []struct {
		name, tamper, says string
	}{
		{"a changed event", "UPDATE events SET reason = 'another' WHERE event_seq = 4", "event 4: its sum"},
		{"a changed handoff", `UPDATE events SET handoff = replace(handoff, 'your part', 'nothing') WHERE event_seq = 4`, "event 4: its sum"},
		{"a changed time", "UPDATE events SET created_at = created_at + 1 WHERE event_seq = 2", "event 2: its sum"},
		{"a lost event", "DELETE FROM events WHERE event_seq = 3", "event 4: its sum"},
		{"a lost last event", "DELETE FROM events WHERE event_seq = 6", "its last event is 6, and the log ends with 5"},
		{"a lost first event", "DELETE FROM events WHERE event_seq = 1", "event 2: its sum"},
		{"a log that is empty", "DELETE FROM events", "its last event is 6, and the log ends with 0"},
		{"two events swapped", "UPDATE events SET event_seq = CASE event_seq WHEN 3 THEN -4 ELSE -3 END WHERE event_seq IN (3, 4); UPDATE events SET event_seq = -event_seq WHERE event_seq < 0", "event 3: its sum"},
		{"an event in another room", "UPDATE events SET room_id = 'room-x' WHERE event_seq = 3", "names something that isn't in rooms"},
		{"a wrong owner", "UPDATE rooms SET owner = 'codex:b'", "owner is codex:b"},
		{"a wrong state", "UPDATE rooms SET state = 'owned'", "state is owned"},
		{"a wrong turn", "UPDATE rooms SET turn_id = turn_id + 1", "turn_id is 3, and the log says 2"},
		{"a wrong lease", "UPDATE rooms SET lease_id = 'x'", "lease is"},
		{"a lost handoff", "UPDATE rooms SET handoff_event_seq = 0", "handoff_event_seq is 0"},
		{"a handoff that waits no longer", "UPDATE rooms SET handoff_pending = 0", "handoff_pending is false"},
		{"a reservation that nobody made", "UPDATE rooms SET reserved_for = 'claude:a'", "reserved_for is claude:a"},
		{"a closed room", "UPDATE rooms SET closed = 1", "closed is true"},
		{"a member that left", "UPDATE members SET state = 'left' WHERE agent_id = 'codex:b'", "member codex:b is {left"},
		{"a member that never joined", "INSERT INTO members SELECT room_id, 'gemini:x', 9, 'joined', 0, 0, 0, 0, 0, 0, 0 FROM rooms", "member gemini:x is {joined 9 0 0}, and the log says { 0 0 0}"},
		{"a member lost", "DELETE FROM members WHERE agent_id = 'codex:b'", "the number of members is 1"},
		{"a member's place", "UPDATE members SET ordinal = 5 WHERE agent_id = 'codex:b'", "member codex:b is {joined 5"},
		{"a counter too low", "UPDATE counters SET value = 5 WHERE name = 'event_seq'", "event 6 lies beyond the counter, which stands at 5"},
		{"a listener of no room", "INSERT INTO listeners VALUES ('l', 'room-x', 'a', 'work', '', '', '', 0, 0, 0)", "listeners names something that isn't in rooms"},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) {
				played(t, db)
				if found, err := db.Check(ctx); err != nil || len(found) > 0 {
					t.Fatalf("found in a sound database: %q (%v)", found, err)
				}
				storetest.Exec(t, db, c.tamper)
				found, err := db.Check(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if all := strings.Join(found, "\n"); !strings.Contains(all, c.says) {
					t.Errorf("the check doesn't say %q; it says:\n%s", c.says, all)
				}
			}, storetest.Damaged())
		})
	}
}

// TestCheckWritesNothing: a check-up can be had of a database that must not be touched.
func TestCheckWritesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
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
