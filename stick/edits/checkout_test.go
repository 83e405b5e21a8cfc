package edits_test

import (
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// TestMayEdit_SeveralCheckouts: where members work in checkouts of their own, the turn says who may push to what they
// share. Edits it fences only in the checkout of whoever has it.
func TestMayEdit_SeveralCheckouts(t *testing.T) {
	here, there, unknown := stick.Checkout{Host: "h1", Path: "/w"}, stick.Checkout{Host: "h2", Path: "/w"}, stick.Checkout{}
	second := stick.Checkout{Host: "h1", Path: "/w2"}
	for _, tt := range []struct {
		name   string
		policy string // beside enforce=stick
		holds  stick.Checkout
		setup  func(*sticktest.Fixture)
		by     stick.AgentID // b if empty
		in     stick.Checkout
		edits  bool // what b may do
		pushes bool
	}{
		{name: "in the holder's", holds: here, in: here, pushes: true},
		{name: "in that of another host", holds: here, in: there, edits: true},
		{name: "in another one of the host", holds: here, in: second, edits: true},
		{name: "where nobody knows", holds: here, in: unknown, pushes: true},
		{name: "of a holder of whom nobody knows", holds: unknown, in: here, pushes: true},
		{name: "all are enforced", policy: "enforce_checkouts=all", holds: here, in: there},
		{name: "nothing is enforced", policy: "enforce=off", holds: here, in: there, edits: true, pushes: true},
		{name: "the holder", by: "a", holds: here, in: there, edits: true, pushes: true},
		{name: "nobody has the turn", holds: here, setup: func(f *sticktest.Fixture) {
			f.Must(f.TryRelease("a", f.Fence(), stick.Handoff{Status: "s", NextAction: "n"}))
		}, in: there, pushes: true},
		{
			name: "it is reserved for another one", holds: there, in: here, edits: true,
			setup: func(f *sticktest.Fixture) {
				f.Passes("c")
				f.Room = edits.WorksIn(f.Room, "c", there)
			},
		},
		{
			name: "it is reserved for the one who pushes, and must be taken first", by: "c", holds: there,
			in: here, pushes: true,
			setup: func(f *sticktest.Fixture) { f.Passes("c") },
		},
		{name: "a pause", holds: here, setup: func(f *sticktest.Fixture) { f.Pauses("x") }, in: there},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c").WithPolicy("enforce=stick")
			if tt.policy != "" {
				f.WithPolicy(tt.policy)
			}
			f.Owns("a")
			f.Room = edits.WorksIn(f.Room, "a", tt.holds)
			if tt.setup != nil {
				tt.setup(f)
			}
			if tt.by == "" {
				tt.by = "b"
			}

			for _, q := range []edits.Editing{{Paths: []string{"src/a.go"}}, {Dirs: []string{"src"}}, {Tree: true}} {
				q.By, q.In = tt.by, tt.in
				if j := edits.MayEdit(f.Room, q, f.Standing(), f.Probed, f.Now); (j.Denied == nil) != tt.edits ||
					j.Told != nil {
					t.Errorf("%+v: %+v", q, j)
				}
			}

			if tt.name == "a pause" { // which is about edits
				return
			}
			j := edits.MayPushTo(f.Room, edits.Pushing{By: tt.by, In: tt.in, Branch: "main"}, f.Probed, f.Now)
			if (j.Denied == nil) != tt.pushes || j.Told != nil {
				t.Errorf("push: %+v", j)
			}
			if j.Denied != nil &&
				(j.Denied.Code != stick.CodeEditDenied ||
					!strings.HasPrefix(j.Denied.Message, "a push to main isn't yours now: ") ||
					len(j.Denied.Hint) == 0) {
				t.Errorf("%s (%s)", j.Denied.Message, j.Denied.Hint)
			}
		})
	}
}

// TestMayPushTo_Warning: where the room only warns, who edits in another checkout is told nothing, and who
// pushes is.
func TestMayPushTo_Warning(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b").WithPolicy("enforce=warn").Owns("a")
	f.Room = edits.WorksIn(f.Room, "a", stick.Checkout{Host: "h1", Path: "/w"})
	in := stick.Checkout{Host: "h2", Path: "/w"}
	if j := edits.MayEdit(f.Room, edits.Editing{By: "b", In: in, Paths: []string{"a.go"}}, nil, f.Probed, f.Now); j != (edits.Judgement{}) {
		t.Errorf("%+v", j)
	}
	if j := edits.MayPushTo(f.Room, edits.Pushing{By: "b", In: in, Branch: "main"}, f.Probed, f.Now); j.Told == nil ||
		j.Denied != nil {
		t.Errorf("%+v", j)
	}

	for _, q := range []edits.Pushing{
		{By: "b", Person: true, In: in},
		{By: "b", Above: stick.Lineage{Agents: []stick.AgentID{"a"}}, In: in},
	} {
		if j := edits.MayPushTo(f.Room, q, f.Probed, f.Now); j != (edits.Judgement{}) {
			t.Errorf("%+v: %+v", q, j)
		}
	}

	f.Reserves("a", "src")
	j := edits.MayEdit(f.Room, edits.Editing{By: "b", In: in, Paths: []string{"src/a.go", "docs/a.md"}},
		f.Standing(), f.Probed, f.Now)
	if j.Told == nil ||
		!strings.Contains(j.Told.Message, "a has reserved src") ||
		len(j.Told.Fields["paths"].([]string)) != 1 {
		t.Errorf("what another has reserved is its own in all checkouts: %+v", j)
	}
}

// TestPolicy_OnlyPersonRelaxesCheckouts, and the room remembers where its members work.
func TestPolicy_OnlyPersonRelaxesCheckouts(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a")
	for _, set := range []string{"enforce_checkouts=holder", "enforce_checkouts=all"} {
		r, _, err := f.SetPolicy("a", false, []string{set}, f.Now)
		if err != nil {
			t.Errorf("%s: %v", set, err)
		}
		f.Room = r
	}

	if _, _, err := f.SetPolicy("a", false, []string{"enforce_checkouts=holder"}, f.Now); stick.CodeOf(err) != stick.CodePersonOnly {
		t.Errorf("an agent relaxes it: %v", err)
	}
	var before stick.Policy
	if err := before.UnmarshalJSON([]byte("{}")); err != nil || before.EnforceCheckouts != stick.HolderCheckout {
		t.Errorf("a room from before has %q: %v", before.EnforceCheckouts, err)
	}

	f.Room = edits.WorksIn(
		edits.WorksIn(edits.WorksIn(f.Room, "a", stick.Checkout{Host: "h1", Path: "/w"}), "a", stick.Checkout{}),
		"z", stick.Checkout{Host: "h2", Path: "/w"},
	)
	if m, _ := f.Member("a"); m.Checkout != (stick.Checkout{Host: "h1", Path: "/w"}) {
		t.Errorf("%+v", m)
	}
}
