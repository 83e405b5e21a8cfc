package stick

import (
	"strings"
	"testing"
)

// TestSeveralCheckouts: where members work in checkouts of their own, the turn says who may push to what they
// share. Edits it fences only in the checkout of whoever has it.
func TestSeveralCheckouts(t *testing.T) {
	here, there, unknown := Checkout{"h1", "/w"}, Checkout{"h2", "/w"}, Checkout{}
	second := Checkout{"h1", "/w2"}
	for _, tt := range []struct {
		name   string
		policy string // beside enforce=stick
		holds  Checkout
		setup  func(*fixture)
		by     AgentID // b if empty
		in     Checkout
		edits  bool // what b may do
		pushes bool
	}{
		{name: "in the holder's", holds: here, in: here, pushes: true},
		{name: "in that of another host", holds: here, in: there, edits: true},
		{name: "in another one of the host", holds: here, in: second, edits: true},
		{name: "where nobody knows", holds: here, in: unknown, pushes: true},
		{name: "of a holder of whom nobody knows", holds: unknown, in: here, pushes: true},
		{name: "all are fenced", policy: "enforce_checkouts=all", holds: here, in: there},
		{name: "nothing is enforced", policy: "enforce=off", holds: here, in: there, edits: true, pushes: true},
		{name: "the holder", by: "a", holds: here, in: there, edits: true, pushes: true},
		{name: "nobody has the turn", holds: here, setup: func(f *fixture) { f.must(f.release("a", f.fence(), Handoff{Status: "s", NextAction: "n"})) }, in: there, pushes: true},
		{
			name: "it is reserved for another one", holds: there, in: here, edits: true,
			setup: func(f *fixture) {
				f.passes("c")
				f.Room = f.WorksIn("c", there)
			},
		},
		{
			name: "it is reserved for the one who pushes, and must be taken first", by: "c", holds: there, in: here, pushes: true,
			setup: func(f *fixture) { f.passes("c") },
		},
		{name: "a pause", holds: here, setup: func(f *fixture) { f.pauses("x") }, in: there},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := room(t).member("a", "b", "c").alive("a", "b", "c").policy("enforce=stick")
			if tt.policy != "" {
				f.policy(tt.policy)
			}
			f.owns("a")
			f.Room = f.WorksIn("a", tt.holds)
			if tt.setup != nil {
				tt.setup(f)
			}
			if tt.by == "" {
				tt.by = "b"
			}
			for _, q := range []Editing{{Paths: []string{"src/a.go"}}, {Dirs: []string{"src"}}, {Tree: true}} {
				q.By, q.In = tt.by, tt.in
				if j := f.MayEdit(q, f.standing(), f.s, f.now); (j.Denied == nil) != tt.edits || j.Told != nil {
					t.Errorf("%+v: %+v", q, j)
				}
			}
			if tt.name == "a pause" { // which is about edits
				return
			}
			j := f.MayPushTo(Pushing{By: tt.by, In: tt.in, Branch: "main"}, f.s, f.now)
			if (j.Denied == nil) != tt.pushes || j.Told != nil {
				t.Errorf("push: %+v", j)
			}
			if j.Denied != nil && (j.Denied.Code != CodeEditDenied || !strings.HasPrefix(j.Denied.Message, "a push to main isn't yours now: ") || len(j.Denied.Hint) == 0) {
				t.Errorf("%s (%s)", j.Denied.Message, j.Denied.Hint)
			}
		})
	}
}

// TestWarnedOfPushes: where the room only warns, who edits in another checkout is told nothing, and who
// pushes is.
func TestWarnedOfPushes(t *testing.T) {
	f := room(t).member("a", "b").alive("a", "b").policy("enforce=warn").owns("a")
	f.Room = f.WorksIn("a", Checkout{"h1", "/w"})
	in := Checkout{"h2", "/w"}
	if j := f.MayEdit(Editing{By: "b", In: in, Paths: []string{"a.go"}}, nil, f.s, f.now); j != (Judgement{}) {
		t.Errorf("%+v", j)
	}
	if j := f.MayPushTo(Pushing{By: "b", In: in, Branch: "main"}, f.s, f.now); j.Told == nil || j.Denied != nil {
		t.Errorf("%+v", j)
	}
	for _, q := range []Pushing{{By: "b", Person: true, In: in}, {By: "b", Above: Lineage{Agents: []AgentID{"a"}}, In: in}} {
		if j := f.MayPushTo(q, f.s, f.now); j != (Judgement{}) {
			t.Errorf("%+v: %+v", q, j)
		}
	}
	f.reserves("a", "src")
	j := f.MayEdit(Editing{By: "b", In: in, Paths: []string{"src/a.go", "docs/a.md"}}, f.standing(), f.s, f.now)
	if j.Told == nil || !strings.Contains(j.Told.Message, "a has reserved src") || len(j.Told.Fields["paths"].([]string)) != 1 {
		t.Errorf("what another has reserved is its own in all checkouts: %+v", j)
	}
}

// TestOnlyAPersonRelaxesCheckouts, and the room remembers where its members work.
func TestOnlyAPersonRelaxesCheckouts(t *testing.T) {
	f := room(t).member("a")
	for _, set := range []string{"enforce_checkouts=holder", "enforce_checkouts=all"} {
		r, _, err := f.SetPolicy("a", false, []string{set}, f.now)
		if err != nil {
			t.Errorf("%s: %v", set, err)
		}
		f.Room = r
	}
	if _, _, err := f.SetPolicy("a", false, []string{"enforce_checkouts=holder"}, f.now); CodeOf(err) != CodePersonOnly {
		t.Errorf("an agent relaxes it: %v", err)
	}
	var before Policy
	if err := before.UnmarshalJSON([]byte("{}")); err != nil || before.EnforceCheckouts != FencedHolders {
		t.Errorf("a room from before has %q: %v", before.EnforceCheckouts, err)
	}
	f.Room = f.WorksIn("a", Checkout{"h1", "/w"}).WorksIn("a", Checkout{}).WorksIn("z", Checkout{"h2", "/w"})
	if m, _ := f.Member("a"); m.Checkout != (Checkout{"h1", "/w"}) {
		t.Errorf("%+v", m)
	}
}
