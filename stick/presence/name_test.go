package presence_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/glob"
	"talkingstick/stick/presence"
	"talkingstick/stick/scope"
	"talkingstick/stick/sticktest"
)

func TestContextName(t *testing.T) {
	for in, want := range map[string]string{
		"helper-1a2b": "helper-1a2b", "../../etc/passwd": "etc-passwd", "": "", "..": "", "a\x00b": "a-b", "..\\x": "x",
		"CON": "session-CON", "nul.txt": "session-nul.txt", "com1": "session-com1", "common": "common",
		"my agent": "my-agent", "🙂": "", "a🙂b": "a-b",
	} {
		if got := presence.ContextName(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}

	long := strings.Repeat("x", 300)
	a, b := presence.ContextName(long), presence.ContextName(long+"y")
	if a == b || len(a) > stick.MaxContext || len(b) > stick.MaxContext {
		t.Errorf("%q and %q", a, b)
	}

	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringN(0, 400, 4000),
			rapid.StringMatching(`[./\\\x00-\x20a-z🙂:]{0,80}`)).Draw(t, "name")
		name := presence.ContextName(s)
		if len(name) > stick.MaxContext+8 ||
			strings.ContainsAny(name, "/\\\x00:") ||
			strings.HasPrefix(name, ".") ||
			name != presence.ContextName(name) && !strings.HasPrefix(name, "session-") {
			t.Fatalf("%q became %q", s, name)
		}
	})
}

// Running sessions have different names, whatever they asked for. Names that differ only in upper and lower
// case count as the same.
func TestContextNamesAreDistinct(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Starts(presence.Starting{By: "p:0", Same: true})
	f.RunsIn("p:0", 1, stick.Alive)

	used := map[string]bool{"": true}
	for i, asked := range []string{"../a", "a", "A", "a", "", "", "-a-", "helper-0000", ""} {
		got := f.Starts(presence.Starting{
			By: stick.AgentID(fmt.Sprintf("h:%d", i)), Same: true, Context: asked, Seed: "the same",
			Taken: []string{"HELPER-" + presence.ShortSum("the same/0", 4)},
		})
		if name := strings.ToLower(got.Context); used[name] || got.Role != stick.RoleHelper {
			t.Errorf("%q is %s twice", asked, got.Context)
		} else {
			used[name] = true
		}
	}
}

// A session may ask for the name of one that is gone, and inherits its file. A session keeps its name while
// it goes on. Nobody can choose the primary's name.
func TestContextNamesStay(t *testing.T) {
	f := sticktest.NewRoom(t)
	if got := f.Starts(presence.Starting{By: "p:0", Same: true, Context: "lead"}); got.Role != stick.RolePrimary ||
		got.Context != "" {
		t.Errorf("the primary's: %+v", got)
	}

	f.RunsIn("p:0", 1, stick.Alive)
	want := func(what, name string, got presence.Started) {
		t.Helper()
		if got.Context != name || got.Role != stick.RoleHelper {
			t.Errorf("%s: %+v, want %s", what, got, name)
		}
	}

	want("the first", "kim", f.Starts(presence.Starting{By: "h:1", Same: true, Context: "kim"}))
	f.RunsIn("h:1", 2, stick.Unknown)
	want("beside one that isn't known to be gone", "kim-2",
		f.Starts(presence.Starting{By: "h:2", Same: true, Context: "kim"}))
	r, events, err := f.Leave(stick.Leaving{By: "h:1"}, f.Probed, f.Now)
	f.Must(f.TryCommit(r, events, err))
	want("compacted, and the other has ended", "kim-2",
		f.Starts(presence.Starting{By: "h:2", Same: true, Continues: true, Context: "kim"}))
	want("asked for again", "kim", f.Starts(presence.Starting{By: "h:1", Same: true, Context: "kim"}))

	f.RunsIn("h:1", 2, stick.Gone)
	want("started again after a crash", "kim", f.Starts(presence.Starting{By: "h:3", Same: true, Context: "kim"}))
	last := sticktest.Said[stick.SessionStartedPayload](f.Log[len(f.Log)-1])
	if presence.HasSession(f.Room, "h:1") || last.Prior != "h:1" || last.Verdict != stick.Gone {
		t.Errorf("the one before still runs, or the log doesn't say whose file it was: %+v", last)
	}
}

func TestMessagesToRoles(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Starts(presence.Starting{By: "p:0", Same: true})
	f.RunsIn("p:0", 1, stick.Alive)
	for i := range 2 {
		f.Starts(presence.Starting{By: stick.AgentID(fmt.Sprintf("h:%d", i)), Same: true, Seed: fmt.Sprint(i)})
	}

	to := func(by stick.AgentID, names ...stick.AgentID) ([]stick.AgentID, error) {
		events, err := f.TrySend(by, stick.Message{To: names, Body: "hello"})
		if err != nil {
			return nil, err
		}
		return events[0].Message().To, nil
	}

	for _, c := range []struct {
		by   stick.AgentID
		to   []stick.AgentID
		want []stick.AgentID
		err  stick.Code
	}{
		{"h:0", []stick.AgentID{"role:primary"}, []stick.AgentID{"p:0"}, ""},
		{"h:0", []stick.AgentID{"role:helper"}, []stick.AgentID{"h:1"}, ""},
		{"p:0", []stick.AgentID{"role:helper", "h:1"}, []stick.AgentID{"h:0", "h:1"}, ""},
		{"p:0", []stick.AgentID{"role:primary"}, nil, stick.CodeNoRecipient},
		{"p:0", []stick.AgentID{"role:boss"}, nil, stick.CodeUsage},
	} {
		got, err := to(c.by, c.to...)
		if !slices.Equal(got, c.want) || c.err != "" && stick.CodeOf(err) != c.err || c.err == "" && err != nil {
			t.Errorf("%s to %v: %v, %v", c.by, c.to, got, err)
		}
	}

	if _, err := stick.ParseAgentID("role:primary"); err == nil {
		t.Error("an agent can be called like a role")
	}
}

// TestHelpersLeaveWhatIsThePrimarys: a room that enforces anything denies a helper what only the primary may
// change, even while the helper has the stick.
func TestHelpersLeaveWhatIsThePrimarys(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Starts(presence.Starting{By: "p:0", Same: true})
	f.RunsIn("p:0", 1, stick.Alive)
	f.Starts(presence.Starting{By: "h:0", Same: true, Seed: "x"})
	only, err := scope.ParsePattern("docs/plan.md")
	if err != nil {
		t.Fatal(err)
	}

	ask := func(by stick.AgentID, path string) error {
		e := edits.MayEdit(f.Room, edits.Editing{By: by, Paths: []string{path}, PrimaryOnly: []glob.Pattern{only}},
			nil, f.Probed, f.Now).Denied
		if e != nil {
			return e
		}
		return nil
	}

	if err := ask("h:0", "docs/plan.md"); err != nil {
		t.Errorf("enforce is off: %v", err)
	}
	f.Policy.Enforce = stick.EnforceStick
	f.Turn.State, f.Turn.Owner = stick.Owned, "h:0"
	var denied *stick.Error
	if err := ask("h:0", "docs/plan.md"); !errors.As(err, &denied) ||
		denied.Code != stick.CodeEditDenied ||
		!strings.Contains(denied.Hint.String(), "role:primary") {
		t.Errorf("the primary's file: %v", err)
	}

	if err := ask("h:0", "src/x.go"); err != nil {
		t.Errorf("another file: %v", err)
	}
	f.Turn.Owner = "p:0"
	if err := ask("p:0", "docs/plan.md"); err != nil {
		t.Errorf("the primary: %v", err)
	}
}

// TestClearedSessionKeepsItsFile: a session that goes on in its process under another agent's name keeps its
// context file, even if it is asked to take another one.
func TestClearedSessionKeepsItsFile(t *testing.T) {
	f := sticktest.NewRoom(t)
	f.Starts(presence.Starting{By: "a", Helper: true, Context: "one"})
	got := f.Starts(presence.Starting{
		By: "b", Helper: true, Continues: true, Before: []stick.AgentID{"a"}, Context: "two",
	})
	sticktest.Equal(t, "the context file", got.Context, "one")
}
