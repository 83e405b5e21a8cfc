package edits_test

import (
	"slices"
	"strings"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

func TestUndoneFile_Step(t *testing.T) {
	a, b, c := edits.FileVersion{Mode: "100644", Sum: "a"}, edits.FileVersion{Mode: "100644", Sum: "b"}, edits.FileVersion{Mode: "100644", Sum: "c"}
	program := edits.FileVersion{Mode: "100755", Sum: "a"}
	none, unknown := edits.FileVersion{}, edits.FileVersion{Unknown: true}
	for _, x := range []struct {
		name          string
		was, left, is edits.FileVersion
		shared        bool
		want          edits.UndoStep
		why           edits.UndoReason
	}{
		{name: "overwritten", was: a, left: b, is: b, want: edits.UndoRestore},
		{name: "made executable", was: a, left: program, is: program, want: edits.UndoRestore},
		{name: "deleted", was: a, left: none, is: none, want: edits.UndoRestore},
		{name: "made", was: none, left: a, is: a, want: edits.UndoRemove},
		{name: "overwritten, and undone already", was: a, left: b, is: a, want: edits.UndoNothing},
		{name: "deleted, and made again as it was", was: a, left: none, is: a, want: edits.UndoNothing},
		{name: "made, and removed since", was: none, left: a, is: none, want: edits.UndoNothing},
		{name: "overwritten, and changed since", was: a, left: b, is: c, want: edits.UndoLeave, why: edits.UndoChanged},
		{
			name: "overwritten, and removed since", was: a, left: b, is: none, want: edits.UndoLeave,
			why: edits.UndoChanged,
		},
		{
			name: "deleted, and something else made there", was: a, left: none, is: c, want: edits.UndoLeave,
			why: edits.UndoChanged,
		},
		{name: "made, and changed since", was: none, left: a, is: b, want: edits.UndoLeave, why: edits.UndoChanged},
		{
			name: "overwritten, and made executable since", was: b, left: a, is: program,
			want: edits.UndoLeave, why: edits.UndoChanged,
		},
		{name: "in a shared part", was: a, left: b, is: b, shared: true, want: edits.UndoLeave, why: edits.UndoShared},
		{
			name: "in a shared part, and changed since", was: a, left: b, is: c, shared: true,
			want: edits.UndoLeave, why: edits.UndoShared,
		},
		{name: "in a shared part, and as before", was: a, left: b, is: a, shared: true, want: edits.UndoNothing},
		{
			name: "made in a shared part", was: none, left: a, is: a, shared: true, want: edits.UndoLeave,
			why: edits.UndoShared,
		},
		{name: "no copy from before", was: unknown, left: b, is: b, want: edits.UndoLeave, why: edits.UndoUnkept},
		{name: "no copy from after", was: a, left: unknown, is: b, want: edits.UndoLeave, why: edits.UndoUnkept},
		{
			name: "something that can't be read", was: a, left: b, is: unknown, want: edits.UndoLeave,
			why: edits.UndoUnread,
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, why := edits.UndoneFile{Was: x.was, Left: x.left, Is: x.is, Alone: !x.shared}.Step()
			if got != x.want || why != x.why {
				t.Errorf("%s (%s), want %s (%s)", got, why, x.want, x.why)
			}
		})
	}
}

// TestUndoneFile_Step_all: whatever is known of a path, an undo replaces only what is as the call left it,
// and what the call alone has changed.
func TestUndoneFile_Step_all(t *testing.T) {
	all := []edits.FileVersion{
		{},
		{Unknown: true},
		{Mode: "100644", Sum: "a"},
		{Mode: "100644", Sum: "b"},
		{Mode: "100755", Sum: "a"},
	}
	for _, was := range all {
		for _, left := range all {
			for _, is := range all {
				for _, alone := range []bool{false, true} {
					f := edits.UndoneFile{Was: was, Left: left, Is: is, Alone: alone}
					step, why := f.Step()
					writes := step == edits.UndoRestore || step == edits.UndoRemove
					switch known := !was.Unknown && !left.Unknown && !is.Unknown; {
					case writes && (!known || !alone || is != left || is == was):
						t.Errorf("%+v: %s", f, step)
					case step == edits.UndoRestore && !was.Exists(), step == edits.UndoRemove && was.Exists():
						t.Errorf("%+v: %s", f, step)
					case step == edits.UndoNothing && (is != was || !known):
						t.Errorf("%+v: nothing is done", f)
					case (step == edits.UndoLeave) != (why != ""):
						t.Errorf("%+v: %s, because %q", f, step, why)
					case known && alone && is == left && is != was && !writes:
						t.Errorf("%+v: %s", f, step)
					}
				}
			}
		}
	}
}

func TestHeadMove_Back(t *testing.T) {
	many := slices.Repeat([]string{"x"}, 30)
	for _, x := range []struct {
		name string
		m    edits.HeadMove
		want string
	}{
		{"stayed", edits.HeadMove{From: "1", To: "1", FromBranch: "main", ToBranch: "main"}, ""},
		{
			"committed what was uncommitted",
			edits.HeadMove{
				From: "1", To: "2", FromBranch: "main", ToBranch: "main", Differ: []string{"a"},
				Held: []string{"a"},
			},
			"git reset 1",
		},
		{"the first commit", edits.HeadMove{To: "2", FromBranch: "main", ToBranch: "main"}, "git update-ref -d HEAD"},
		{
			"pulled",
			edits.HeadMove{From: "1", To: "2", FromBranch: "main", ToBranch: "main", Differ: []string{"a"}},
			"git reset --keep 1",
		},
		{
			"reset over work in one of its files",
			edits.HeadMove{
				From: "2", To: "1", FromBranch: "main", ToBranch: "main", Differ: []string{"a b", "c"},
				Held: []string{"c"},
			},
			"git reset 2; git restore -- 'a b'",
		},
		{
			"reset over work, with many other files",
			edits.HeadMove{From: "2", To: "1", Differ: append(many, "c"), Held: []string{"c"}},
			"git reset 2",
		},
		{
			"another branch",
			edits.HeadMove{From: "1", To: "2", FromBranch: "main", ToBranch: "fix", Differ: []string{"a"}},
			"git switch main",
		},
		{
			"another branch at the same commit",
			edits.HeadMove{From: "1", To: "1", FromBranch: "main", ToBranch: "fix"},
			"git switch main",
		},
		{"from no branch", edits.HeadMove{From: "1", To: "2", ToBranch: "fix"}, "git switch --detach 1"},
		{
			"another branch, over work",
			edits.HeadMove{
				From: "1", To: "2", FromBranch: "main", ToBranch: "fix", Differ: []string{"a", "b"},
				Held: []string{"a"},
			},
			"git symbolic-ref HEAD refs/heads/main; git reset; git restore -- b",
		},
		{
			"from no branch, over work",
			edits.HeadMove{From: "1", To: "2", ToBranch: "fix", Differ: []string{"a"}, Held: []string{"a"}},
			"git update-ref --no-deref HEAD 1; git reset",
		},
	} {
		t.Run(x.name, func(t *testing.T) {
			var said []string
			for _, c := range x.m.Back() {
				said = append(said, c.String())
			}
			if got := strings.Join(said, "; "); got != x.want {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

func TestUnstage(t *testing.T) {
	if got := edits.Unstage([]string{"a", "b c"}).String(); got != "git restore --staged -- a 'b c'" {
		t.Error(got)
	}
	if got := edits.Unstage(slices.Repeat([]string{"a"}, 30)).String(); got != "git restore --staged ." {
		t.Error(got)
	}
}

// TestRoom_CallUndone: whose call it was reads of it, and whose files stay, but not who has taken it back.
func TestRoom_CallUndone(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c")
	e := edits.CallUndone(f.Room, edits.Undo{
		By: "a", Call: edits.Call{ID: 7, Agent: "b", Tool: "Bash", Command: "rm -rf\nsrc"}, As: 9, Checkout: "/app",
		Files: []string{"x.go", "y.go"}, Left: []string{"z.go"}, Of: []stick.AgentID{"c", "a"},
	})

	if want := stick.Words(`a undid call 7 of b, "rm -rf src"; as before it: 2 files, first x.go; left as now: z.go, work of c and a`); e.Say() != want {
		t.Errorf("%q, want %q", e.Say(), want)
	}
	if want := []stick.Addressee{
		{Agent: "b", Owes: stick.OwesReading}, {Agent: "c", Owes: stick.OwesReading},
	}; !slices.Equal(e.Addressees(), want) {
		t.Errorf("for %v", e.For)
	}

	own := edits.CallUndone(f.Room, edits.Undo{
		By: "b", Call: edits.Call{ID: 7, Agent: "b", Tool: "Write", Command: "x.go"}, Files: []string{"x.go"},
	})
	if want := stick.Words("b undid call 7, x.go; as before it: x.go"); own.Say() != want || len(own.For) > 0 {
		t.Errorf("%q for %v, want %q", own.Say(), own.For, want)
	}
}
