package stick_test

import (
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/presence"
	"talkingstick/stick/sticktest"
)

// nested are processes of two harnesses, of which the first runs the second in its tool call, and what the
// second knows of the first.
var (
	outer  = stick.Process{Boot: "b", PID: 1, Start: 1}
	inside = stick.Lineage{Processes: []stick.Process{{Boot: "b", PID: 9, Start: 9}, outer}}
	named  = stick.Lineage{Agents: []stick.AgentID{"a"}}
)

// underParent is a room in which a holds the stick by a turn, and its process proves as much as given.
func underParent(t *testing.T, proof stick.Proof) *sticktest.Fixture {
	t.Helper()
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
	f.EditMember("a", func(m *stick.Member) { m.Processes = []stick.Evidence{{Process: outer, Proof: proof}} })
	f.Probed.Processes[outer] = stick.Alive
	return f.Owns("a")
}

// TestParent: the holder is the parent of whom it has started, as long as it holds the stick and isn't gone.
func TestParent(t *testing.T) {
	for _, c := range []struct {
		name  string
		proof stick.Proof
		by    stick.AgentID
		above stick.Lineage
		after func(*sticktest.Fixture)
		want  stick.AgentID
	}{
		{"below the holder", stick.ProvesSession, "b", inside, nil, "a"},
		{"in no tool call", stick.ProvesSession, "b", stick.Lineage{}, nil, ""},
		{
			"below somebody else",
			stick.ProvesSession,
			"b",
			stick.Lineage{Processes: []stick.Process{{Boot: "b", PID: 9, Start: 9}}},
			nil,
			"",
		},
		{"below a carrier", stick.ProvesCarrier, "b", inside, nil, ""},
		{"below a carrier, by the environment", stick.ProvesCarrier, "b", named, nil, "a"},
		{
			"by the environment, of one that is gone",
			stick.ProvesSession,
			"b",
			named,
			func(f *sticktest.Fixture) { f.Probed.Processes[outer] = stick.Gone },
			"",
		},
		{"the holder itself", stick.ProvesSession, "a", inside, nil, ""},
		{"when the turn is over", stick.ProvesSession, "b", inside, func(f *sticktest.Fixture) { f.Releases() }, ""},
		{
			"when another has taken over",
			stick.ProvesSession,
			"b",
			inside,
			func(f *sticktest.Fixture) { f.TryTake(stick.Take{By: "c", Reason: "ann said so", Operator: true}) },
			"",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := underParent(t, c.proof)
			if c.after != nil {
				c.after(f)
			}
			got, ok := f.Parent(c.by, c.above, f.Probed)
			sticktest.Equal(t, "parent", got, c.want)
			sticktest.Equal(t, "has one", ok, c.want != "")
		})
	}
}

// TestUnderParent: who works under another's turn is told so at once, and gets no turn. It may edit as the
// holder may, except for what is left to the primary, and is a helper.
func TestUnderParent(t *testing.T) {
	f := underParent(t, stick.ProvesSession)
	f.Policy.Enforce = stick.EnforceStick
	ask := func(p stick.Purpose, l stick.Lineage) stick.Answer {
		_, events, a := f.Ask(stick.Asking{Agent: "b", Purpose: p, Above: l, Lease: "l"}, f.Probed, f.Now)
		sticktest.Equal(t, "events", len(events), 0)
		return a
	}

	sticktest.Equal(t, "asking for the turn", ask(stick.Work, inside).Status, stick.UnderParent)
	sticktest.Equal(t, "without a lineage", ask(stick.Work, stick.Lineage{}).Status, "")
	sticktest.Equal(t, "listening", ask(stick.Listen, inside).Status, "")
	may := func(l stick.Lineage) bool {
		return edits.MayEdit(f.Room, edits.Editing{By: "b", Above: l, Paths: []string{"x.go"}}, nil, f.Probed,
			f.Now).Denied == nil
	}
	sticktest.Equal(t, "may edit", may(inside), true)
	sticktest.Equal(t, "may edit without a lineage", may(stick.Lineage{}), false)

	r, _, started := presence.StartSession(f.Room, presence.Starting{By: "b", Above: inside}, f.Probed, f.Now)
	sticktest.Equal(t, "role", started.Role, stick.RoleHelper)
	sticktest.Equal(t, "parent", started.Parent, "a")
	_, _, err := presence.Promote(r, "b", inside, f.Probed, f.Now)
	sticktest.Equal(t, "code of a promotion", stick.CodeOf(err), stick.CodeMemberPresent)

	_, _, err = presence.Promote(r, "b", stick.Lineage{}, f.Probed, f.Now)
	sticktest.Equal(t, "error of a promotion without a lineage", err, nil)
	_, _, alone := presence.StartSession(f.Room, presence.Starting{By: "b"}, f.Probed, f.Now)
	sticktest.Equal(t, "role without a lineage", alone.Role, stick.RolePrimary)
}
