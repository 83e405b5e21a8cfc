package stick

import "testing"

// nested are processes of two harnesses, of which the first runs the second in its tool call, and what the
// second knows of the first.
var (
	outer  = Process{Boot: "b", PID: 1, Start: 1}
	inside = Lineage{Processes: []Process{{Boot: "b", PID: 9, Start: 9}, outer}}
	named  = Lineage{Agents: []AgentID{"a"}}
)

// underParent is a room in which a holds the stick by a turn, and its process proves as much as given.
func underParent(t *testing.T, proof Proof) *fixture {
	t.Helper()
	f := room(t).member("a", "b", "c")
	f.editMember("a", func(m *Member) { m.Processes = []Evidence{{Process: outer, Proof: proof}} })
	f.s.Processes[outer] = Alive
	return f.owns("a")
}

// TestParent: the holder is the parent of whom it has started, as long as it holds the stick and isn't gone.
func TestParent(t *testing.T) {
	for _, c := range []struct {
		name  string
		proof Proof
		by    AgentID
		above Lineage
		after func(*fixture)
		want  AgentID
	}{
		{"below the holder", ProvesSession, "b", inside, nil, "a"},
		{"in no tool call", ProvesSession, "b", Lineage{}, nil, ""},
		{"below somebody else", ProvesSession, "b", Lineage{Processes: []Process{{Boot: "b", PID: 9, Start: 9}}}, nil, ""},
		{"below a carrier", ProvesCarrier, "b", inside, nil, ""},
		{"below a carrier, by the environment", ProvesCarrier, "b", named, nil, "a"},
		{"by the environment, of one that is gone", ProvesSession, "b", named, func(f *fixture) { f.s.Processes[outer] = Gone }, ""},
		{"the holder itself", ProvesSession, "a", inside, nil, ""},
		{"when the turn is over", ProvesSession, "b", inside, func(f *fixture) { f.releases() }, ""},
		{"when another has taken over", ProvesSession, "b", inside, func(f *fixture) { f.take(Take{By: "c", Reason: "ann said so", Operator: true}) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := underParent(t, c.proof)
			if c.after != nil {
				c.after(f)
			}
			got, ok := f.Parent(c.by, c.above, f.s)
			equal(t, "parent", got, c.want)
			equal(t, "has one", ok, c.want != "")
		})
	}
}

// TestUnderParent: who works under another's turn is told so at once, and gets no turn. It may edit as the
// holder may, except for what is left to the primary, and is a helper.
func TestUnderParent(t *testing.T) {
	f := underParent(t, ProvesSession)
	f.Policy.Enforce = EnforceStick
	ask := func(p Purpose, l Lineage) Answer {
		_, events, a := f.Ask(Asking{Agent: "b", Purpose: p, Above: l, Lease: "l"}, f.s, f.now)
		equal(t, "events", len(events), 0)
		return a
	}
	equal(t, "asking for the turn", ask(Work, inside).Status, UnderParent)
	equal(t, "without a lineage", ask(Work, Lineage{}).Status, "")
	equal(t, "listening", ask(Listen, inside).Status, "")
	may := func(l Lineage) bool {
		return f.MayEdit(Editing{By: "b", Above: l, Paths: []string{"x.go"}}, nil, f.s, f.now).Denied == nil
	}
	equal(t, "may edit", may(inside), true)
	equal(t, "may edit without a lineage", may(Lineage{}), false)

	r, _, started := f.StartSession(Starting{By: "b", Above: inside}, f.s, f.now)
	equal(t, "role", started.Role, RoleHelper)
	equal(t, "parent", started.Parent, "a")
	_, _, err := r.Promote("b", inside, f.s, f.now)
	equal(t, "code of a promotion", CodeOf(err), CodeMemberPresent)
	_, _, err = r.Promote("b", Lineage{}, f.s, f.now)
	equal(t, "error of a promotion without a lineage", err, nil)
	_, _, alone := f.StartSession(Starting{By: "b"}, f.s, f.now)
	equal(t, "role without a lineage", alone.Role, RolePrimary)
}
