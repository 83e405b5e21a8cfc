package store_test

import (
	"fmt"
	"slices"
	"testing"

	"talkingstick/internal/store"
	"talkingstick/internal/storetest"
	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// reserve lets a member reserve a pattern.
func reserve(t *testing.T, db *store.DB, id stick.RoomID, a stick.AgentID, p glob.Pattern) stick.Event {
	t.Helper()
	_, events := play(t, db, id, func(r stick.Room, now stick.Time) (stick.Room, []stick.Event) {
		events, _, err := scope.Reserve(r, scope.Reserving{By: a, Patterns: []glob.Pattern{p}}, nil, blind(), now)
		if err != nil {
			t.Fatal(err)
		}
		return r, events
	})

	return events[0]
}

// TestReservationsAreFoundByTheirPrefix compares what the index finds with all reservations: it must find
// every one that matches a path or overlaps with a pattern.
func TestReservationsAreFoundByTheirPrefix(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		patterns := []glob.Pattern{
			"**", "*.go", "src", "SRC/lib", "src/*/x", "src/lib/**/*.go", "src/lib/a.go", "src0", "src-x",
			"src!", "docs/[ab].md", "a/b/c/d", "é/x",
		}
		for _, p := range patterns {
			reserve(t, db, id, "claude:a", p)
		}

		view(t, db, func(tx *store.Tx) error {
			all, _, err := tx.Reservations(store.ReservationQuery{Room: id})
			if err != nil || len(all) != len(patterns) {
				t.Fatalf("%d of %d: %v", len(all), len(patterns), err)
			}

			for _, path := range []string{
				"src/lib/a.go", "src", "Src/Lib/b.go", "docs/a.md", "a/b/c/d/e/f", "É/x", "none",
			} {
				near, err := tx.ReservationsNear(id, []string{path, "other/path"}, nil)
				if err != nil {
					return err
				}

				for _, v := range all {
					if v.Pattern.Match(path, true) && !slices.Contains(near, v) {
						t.Errorf("%s means %s and isn't near it", v.Pattern, path)
					}
				}
			}

			for _, dir := range []string{"src/lib", "src", "SRC", "docs", "a", "a/b/c/d/e", "é", "none"} {
				near, err := tx.ReservationsNear(id, []string{"x"}, []string{dir, "other"})
				if err != nil {
					return err
				}

				for _, v := range all {
					if v.Pattern.Meets(dir, true) && !slices.Contains(near, v) {
						t.Errorf("%s means something in %s and isn't near it", v.Pattern, dir)
					}
				}
			}

			for _, p := range append(patterns, "src/lib", "a/b", "**/x", "é") {
				near, err := tx.ReservationsMeeting(id, []glob.Pattern{p})
				if err != nil {
					return err
				}

				for _, v := range all {
					if overlap, _ := p.Overlap(v.Pattern, true); overlap != glob.None && !slices.Contains(near, v) {
						t.Errorf("%s overlaps with %s and isn't found", p, v.Pattern)
					}
				}
			}

			return nil
		})
	})
}

// TestManyPaths asks about more paths than fit into one query.
func TestManyPaths(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		id := played(t, db)
		last := reserve(t, db, id, "claude:a", "d999/x/f.go")
		var paths, dirs []string
		for i := range 1000 {
			paths, dirs = append(paths, fmt.Sprintf("d%d/x/f.go", i)), append(dirs, fmt.Sprintf("d%d", i))
		}

		view(t, db, func(tx *store.Tx) error {
			for i, asked := range [][2][]string{{paths, nil}, {nil, dirs}, {paths, dirs}} {
				near, err := tx.ReservationsNear(id, asked[0], asked[1])
				if len(near) != 1 || near[0] != scope.ReservationOf(last) {
					t.Errorf("%d: found %v", i, near)
				}
				if err != nil {
					return err
				}
			}

			return nil
		})
	})
}
