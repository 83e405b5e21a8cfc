package edits_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

// TestMayTake: only others' work stops a command that takes work away, and only where edits are denied.
func TestMayTake(t *testing.T) {
	reset := edits.Taking{By: "a", Form: "git reset --hard", Theirs: []string{"x.go", "y.go"}, Of: []stick.AgentID{"b"}}
	for enforce, want := range map[stick.Enforce]string{
		stick.EnforceOff: "", stick.EnforceWarn: "told", stick.EnforceScopes: "denied",
		stick.EnforceStick: "denied", "ask": "",
	} {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b").Owns("a")
		f.Policy.Enforce = enforce
		j, got := edits.MayTake(f.Room, reset), ""
		for word, why := range map[string]*stick.Error{"denied": j.Denied, "told": j.Told} {
			if why == nil {
				continue
			}
			got += word
			if why.Message != `"git reset --hard" would take away uncommitted work of b: 2 files, first x.go` ||
				why.Code != stick.CodeEditDenied ||
				len(why.Hint) == 0 {
				t.Errorf("%s: %s (%s)", enforce, why.Message, why.Hint)
			}
		}

		if got != want {
			t.Errorf("%s: %q, want %q", enforce, got, want)
		}
		mine := reset
		mine.Theirs, mine.Of = nil, nil
		person := reset
		person.Person = true
		if edits.MayTake(f.Room, mine) != (edits.Judgement{}) || edits.MayTake(f.Room, person) != (edits.Judgement{}) {
			t.Errorf("%s: own work, or a person, is stopped", enforce)
		}
	}

	f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("enforce=stick")
	reset.Sweeps, reset.Form, reset.Of = true, "git add -A", []stick.AgentID{"b", "c", "d", "e"}
	if j := edits.MayTake(f.Room, reset); j.Denied.Message != `"git add -A" would sweep up uncommitted work of b, c, d and 1 more: 2 files, first x.go` {
		t.Error(j.Denied.Message)
	}
}

// TestNotKept_RefusedOnce: a command of whose work no copy can be kept is refused once in a turn, and
// another one isn't let through for it.
func TestNotKept_RefusedOnce(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a").Owns("a")
	long := "git checkout -- " + strings.Repeat("x", 500)
	why := edits.NotKept(f.Room, long, []stick.Words{"big.bin (too large)"})
	if why.Code != stick.CodeEditDenied ||
		!strings.HasPrefix(why.Message, `no copy can be kept of what "git checkout`) ||
		!strings.HasSuffix(why.Message, "would take away: big.bin (too large)") {
		t.Error(why.Message)
	}

	e := edits.DeniedCommand(f.Room, "a", long, "s1")
	sticktest.Equal(t, "asked again",
		edits.AskedAgain(f.Room, long, "s1", []stick.Event{edits.Denied(f.Room, "a", []string{"x"}), e}),
		true)
	sticktest.Equal(t, "the same text elsewhere", edits.AskedAgain(f.Room, long, "s2", []stick.Event{e}), false)
	sticktest.Equal(t, "the same work in other words",
		edits.AskedAgain(f.Room, "git restore .", "s1", []stick.Event{e}), true)

	old := edits.DeniedCommand(f.Room, "a", long, "")
	sticktest.Equal(t, "an event without a sum", edits.AskedAgain(f.Room, long, "s1", []stick.Event{old}), true)
	sticktest.Equal(t, "another command after one without a sum",
		edits.AskedAgain(f.Room, "git stash", "s1", []stick.Event{old}), false)
	sticktest.Equal(t, "of an edit", edits.DeniesEdit(edits.Denied(f.Room, "a", []string{"x"})), true)
	sticktest.Equal(t, "of a command", edits.DeniesEdit(e), false)
	sticktest.Equal(t, "another command", edits.AskedAgain(f.Room, "git stash", "s2", []stick.Event{e}), false)

	e.Turn--
	sticktest.Equal(t, "in an earlier turn", edits.AskedAgain(f.Room, long, "s1", []stick.Event{e}), false)
	sticktest.Equal(t, "never", edits.AskedAgain(f.Room, long, "s1", nil), false)
}

// TestTaken_Say: who ran the command and whose work it was both have to read of it.
func TestTaken_Say(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b")
	for want, x := range map[stick.Words]edits.Taken{
		`a ran "git reset --hard", which took 2 files, first x.go, work of b; a copy was kept before: tt rescue show ab12, without big.bin`: {
			By: "a", Form: "git reset --hard", Files: []string{"x.go", "y.go"}, Of: []stick.AgentID{"b"},
			Rescue: "ab12", Left: []string{"big.bin"},
		},
		`a ran "git add -A", which swept up x.go, work of b`: {
			By: "a", Form: "git add -A", Sweeps: true, Files: []string{"x.go"}, Of: []stick.AgentID{"b"},
		},
		`a ran "git branch -D t"; the old commit is kept as refs/talkingstick/kept/t/ab12`: {
			By: "a", Form: "git branch -D t", Kept: []string{"refs/talkingstick/kept/t/ab12"},
		},
		`a ran "sh wipe.sh", which removed the repository /work/.git; its commits, as far as they are kept: tt rescue list; a copy was kept before: tt rescue show ab12`: {
			By: "a", Form: "sh wipe.sh", Rescue: "ab12", Repository: "/work/.git",
		},
		`a ran "git branch -D …"; the old commits are kept: tt rescue list`: {
			By: "a", Form: "git branch -D …",
			Kept: slices.Repeat([]string{"refs/talkingstick/kept/t/ab12"}, 300),
		},
	} {
		e := edits.Take(f.Room, x)
		if got := e.Say(); got != want {
			t.Errorf("it says\n%s\nwant\n%s", got, want)
		}

		readers := slices.Concat([]stick.AgentID{"a"}, x.Of)
		if x.Repository != "" {
			readers = append(readers, "b")
		}

		for _, a := range readers {
			if all := e.Addressees(); !slices.Contains(all, stick.Addressee{Agent: a, Owes: stick.OwesReading}) {
				t.Errorf("%s isn't told: %v", a, all)
			}
		}
	}
}

// TestTaken_With: what several parts of a command take is told as one, each file and each agent once.
func TestTaken_With(t *testing.T) {
	a := edits.Taken{
		Form: "git reset --hard", Files: []string{"x", "y"}, Of: []stick.AgentID{"b"}, Left: []string{"big"},
	}
	b := edits.Taken{
		Form: "git clean -fd", Files: []string{"y", "z"}, Of: []stick.AgentID{"b", "c"},
		Kept: []string{"refs/k"},
	}
	got := a.With(b)
	sticktest.Equal(t, "the command", got.Form, "git reset --hard and git clean -fd")
	sticktest.Equal(t, "files", strings.Join(got.Files, " "), "x y z")
	sticktest.Equal(t, "of", stick.AgentNames(got.Of), "b and c")
	sticktest.Equal(t, "the rest", strings.Join(got.Kept, " ")+" "+strings.Join(got.Left, " "), "refs/k big")
	sticktest.Equal(t, "one command twice", a.With(a).Form, a.Form)
	sticktest.Equal(t, "what it was made of", strings.Join(a.Files, " "), "x y")
}
