package stick

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
	"talkingstick/stick/glob"
)

func TestMayEdit(t *testing.T) {
	tests := []struct {
		name    string
		enforce Enforce
		setup   func(*fixture)
		ask     Editing // by b unless it says otherwise
		denied  []string
		says    string
	}{
		{name: "nothing is enforced", enforce: EnforceOff, ask: Editing{Paths: []string{"src/a.go"}}},
		{name: "without the stick", enforce: EnforceStick, ask: Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"}, says: "a has just taken the stick"},
		{name: "the holder", enforce: EnforceStick, ask: Editing{By: "a", Paths: []string{"src/a.go"}}},
		{name: "the holder, all of the tree", enforce: EnforceStick, ask: Editing{By: "a", Tree: true}},
		{name: "all of the tree", enforce: EnforceStick, ask: Editing{Tree: true}, denied: []string{}, says: "the working tree isn't yours to change"},
		{name: "a person", enforce: EnforceStick, ask: Editing{By: "human:x", Person: true, Paths: []string{"src/a.go"}}},
		{name: "one that never joined", enforce: EnforceStick, ask: Editing{By: "z", Paths: []string{"a"}}, denied: []string{"a"}},
		{name: "git's own files", enforce: EnforceStick, ask: Editing{Paths: []string{".git/config", "sub/.git/HEAD", "worktrees/x/a.go"}}},
		{
			name: "a reservation signals only", enforce: EnforceStick, setup: func(f *fixture) { f.reserves("b", "src") },
			ask: Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{name: "a scope", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") }, ask: Editing{Paths: []string{"src/a.go"}}},
		{
			name: "beyond a scope", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") },
			ask: Editing{Paths: []string{"src/a.go", "docs/a.md"}}, denied: []string{"docs/a.md"},
		},
		{name: "all of the tree needs the stick", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") }, ask: Editing{Tree: true}, denied: []string{}},
		{
			name: "the earlier decides", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("c", "src/*.go"); f.reserves("b", "src") },
			ask: Editing{Paths: []string{"src/b.md", "src/a.go"}}, denied: []string{"src/a.go"}, says: "c has reserved src/*.go",
		},
		{
			name: "a stale one decides nothing", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("c", "src/*.go"); f.reserves("b", "src"); f.gone("c") },
			ask: Editing{Paths: []string{"src/a.go"}},
		},
		{
			name: "a scope that is stale", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src"); f.after(DefaultReservationTTL) },
			ask: Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{
			name: "anything anywhere needs the stick", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "**/*.go") },
			ask: Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{name: "the holder in another's scope", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") }, ask: Editing{By: "a", Paths: []string{"src/a.go"}}},
		{
			name: "letters of another case", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") },
			ask: Editing{Paths: []string{"SRC/a.go"}}, denied: []string{"SRC/a.go"},
		},
		{name: "letters of another case, folded", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") }, ask: Editing{Paths: []string{"SRC/a.go"}, Fold: true}},
		{
			name: "a directory in a scope", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src") },
			ask: Editing{Dirs: []string{"src", "src/lib"}},
		},
		{
			name: "a directory that holds an earlier scope", enforce: EnforceScopes,
			setup: func(f *fixture) { f.reserves("c", "src/lib"); f.reserves("b", "src") },
			ask:   Editing{Dirs: []string{"src", "src/sub"}}, denied: []string{"src"}, says: "src isn't yours to change now: c has reserved src/lib",
		},
		{
			name: "a directory that holds a later scope", enforce: EnforceScopes,
			setup: func(f *fixture) { f.reserves("b", "src"); f.reserves("c", "src/lib") }, ask: Editing{Dirs: []string{"src"}},
		},
		{
			name: "a directory of which a part is reserved", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src/lib") },
			ask: Editing{Dirs: []string{"src"}}, denied: []string{"src"}, says: "a has just taken the stick",
		},
		{
			name: "a directory that another's pattern reaches into", enforce: EnforceScopes,
			setup: func(f *fixture) { f.reserves("c", "src/*/gen.go"); f.reserves("b", "src") },
			ask:   Editing{Dirs: []string{"src/lib"}}, denied: []string{"src/lib"}, says: "c has reserved src/*/gen.go",
		},
		{
			name: "a later scope inside of an own one, in a directory that was reserved last", enforce: EnforceScopes,
			setup: func(f *fixture) { f.reserves("b", "src/lib"); f.reserves("c", "src/lib/x"); f.reserves("b", "src") },
			ask:   Editing{Dirs: []string{"src"}},
		},
		{
			name: "a directory by a pattern of what lies in it", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src/*") },
			ask: Editing{Dirs: []string{"src/lib"}}, denied: []string{"src/lib"},
		},
		{name: "a directory, the holder", enforce: EnforceScopes, setup: func(f *fixture) { f.reserves("b", "src/lib") }, ask: Editing{By: "a", Dirs: []string{"src"}}},
		{name: "directories outside of all scopes", enforce: EnforceStick, ask: Editing{Dirs: []string{".git", "worktrees", "sub/.git/hooks"}}},
		{
			name: "a helper", enforce: EnforceStick, setup: func(f *fixture) { f.starts(Starting{By: "a", Same: true, Helper: true, Seed: "x"}) },
			ask:    Editing{By: "a", Paths: []string{"docs/plan.md", "docs/a.md"}, PrimaryOnly: []glob.Pattern{"docs/plan.md"}},
			denied: []string{"docs/plan.md"}, says: "docs/plan.md is the primary's to change, and you are a helper",
		},
		{
			name: "a helper and a directory", enforce: EnforceStick, setup: func(f *fixture) { f.starts(Starting{By: "a", Same: true, Helper: true, Seed: "x"}) },
			ask:    Editing{By: "a", Dirs: []string{"docs", "src"}, PrimaryOnly: []glob.Pattern{"docs/plan.md", "**/*.org"}},
			denied: []string{"docs"}, says: "docs holds docs/plan.md, which is the primary's to change, and you are a helper",
		},
		{
			name: "one that was removed", enforce: EnforceStick, setup: func(f *fixture) { f.must(f.kick(Kicking{By: "a", Who: "b", Force: true})) },
			ask: Editing{Paths: []string{"a"}}, denied: []string{"a"}, says: "you were removed",
		},
		{name: "a closed room", enforce: EnforceStick, setup: func(f *fixture) {
			f.must(f.close(Closing{By: "a", Fence: f.fence(), Handoff: &Handoff{Status: "s", NextAction: "n"}}))
		}, ask: Editing{Paths: []string{"a"}}},
	}
	for _, tt := range slices.Clone(tests) {
		if tt.enforce == EnforceScopes { // what this policy denies, warn tells
			tt.name, tt.enforce = "warned: "+tt.name, EnforceWarn
			tests = append(tests, tt)
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := room(t).member("a", "b", "c").alive("a", "b", "c").policy("enforce=" + string(tt.enforce)).owns("c")
			f.must(f.release("c", f.fence(), Handoff{Status: "s", NextAction: "review it"}))
			f.owns("a")
			if tt.setup != nil {
				tt.setup(f)
			}
			if tt.ask.By == "" {
				tt.ask.By = "b"
			}
			j := f.MayEdit(tt.ask, f.standing(), f.s, f.now)
			no := j.Denied
			if tt.enforce == EnforceWarn {
				no, j.Told = j.Told, j.Denied
			}
			if j.Told != nil {
				t.Fatalf("both, or the other: %+v", j)
			}
			if (no != nil) != (tt.denied != nil) {
				t.Fatalf("got %v, want denied: %v", no, tt.denied)
			}
			if no == nil {
				return
			}
			if got := no.Fields["paths"].([]string); no.Code != CodeEditDenied || !slices.Equal(got, tt.denied) || !strings.Contains(no.Message, tt.says) || len(no.Hint) == 0 {
				t.Errorf("denied %v: %s (%s)", got, no.Message, no.Hint)
			}
		})
	}
}

// TestStepToEditWhatIsReserved: whoever has reserved a path is asked as well as the holder of the stick, and
// once if that is the same agent.
func TestStepToEditWhatIsReserved(t *testing.T) {
	f := room(t).member("a", "b", "c").alive("a", "b", "c").policy("enforce=scopes")
	f.reserves("c", "src")
	step := func() string {
		return f.MayEdit(Editing{By: "b", Paths: []string{"src/a.go"}}, f.standing(), f.s, f.now).Denied.Hint.String()
	}
	equal(t, "nobody holds the stick", step(), `ask: tt msg send c "…"; or take the turn: tt wait`)
	f.owns("a")
	equal(t, "another holds it", step(), `ask: tt msg send c "…"; or `+f.NextStep().String())
	f.must(f.release("a", f.fence(), Handoff{Status: "s", NextAction: "n"}))
	f.owns("c")
	equal(t, "the same agent holds it", step(), f.NextStep().String())
}

func TestOnlyAPersonRelaxesEnforce(t *testing.T) {
	order := []string{"off", "warn", "scopes", "stick"}
	for i, from := range order {
		for j, to := range order {
			f := room(t).member("a").policy("enforce=" + from)
			_, _, err := f.SetPolicy("a", false, []string{"enforce=" + to}, f.now)
			if denied := CodeOf(err) == CodePersonOnly; denied != (j < i) {
				t.Errorf("an agent sets enforce from %s to %s: %v", from, to, err)
			}
		}
	}
}

// TestMatcher compares Matcher with Match.
func TestMatcher(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "A", "b", "*", "?", "**", "[ab]", ".git", "worktrees", "a*"})
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "pattern"), "/"))
		if err != nil {
			t.Skip(err)
		}
		fold := rapid.Bool().Draw(t, "fold")
		means := p.Matcher(fold)
		name := rapid.SampledFrom([]string{"a", "A", "b", "ab", "c", ".git", "worktrees"})
		for range 8 {
			path := strings.Join(rapid.SliceOfN(name, 1, 5).Draw(t, "path"), "/")
			if got, want := means(path), p.Match(path, fold); got != want {
				t.Fatalf("%s means %s: %v, want %v", p, path, got, want)
			}
		}
	})
}

// TestPatternOfADirectory compares what a pattern means of a directory with its overlap with the
// pattern that the directory is.
func TestPatternOfADirectory(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "A", "b", "*", "?", "**", "[ab]", "a*"})
	name := rapid.SampledFrom([]string{"a", "A", "b", "ab", "[ab]", "*", ".git", "worktrees"})
	rapid.Check(t, func(t *rapid.T) {
		p, err := ParsePattern(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "pattern"), "/"))
		if err != nil {
			t.Skip(err)
		}
		fold := rapid.Bool().Draw(t, "fold")
		dir := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "directory"), "/")
		meets, covers := p.Meets(dir, fold), p.Covers(dir, fold)
		q, err := ParsePattern(glob.Quote(dir))
		if err != nil {
			if meets || covers {
				t.Fatalf("%s means something of %s, of which no pattern means anything", p, dir)
			}
			t.Skip(err)
		}
		overlap, _ := p.Overlap(q, fold)
		if meets != (overlap != glob.None) {
			t.Fatalf("%s meets %s: %v, and they overlap: %s", p, dir, meets, overlap)
		}
		for _, below := range []string{dir, dir + "/c", dir + "/c/d/e"} {
			if covers && !p.Match(below, fold) {
				t.Fatalf("%s covers %s, and doesn't mean %s", p, dir, below)
			}
		}
		if !covers && p.Match(dir, fold) && p.Match(dir+"/cc", fold) && p.Match(dir+"/cc/d/ee/f/gg", fold) && p.Match(dir+"/c/dd", fold) {
			t.Fatalf("%s means all of %s, and doesn't cover it", p, dir)
		}
	})
}

// TestDenialNamesTheFirstPath: and says how many more there are.
func TestDenialNamesTheFirstPath(t *testing.T) {
	f := room(t).member("a", "b").policy("enforce=stick").owns("a")
	for what, paths := range map[string][]string{"x.go isn't": {"x.go"}, "x.go and 2 more aren't": {"x.go", "y.go", "z.go"}} {
		err := f.MayEdit(Editing{By: "b", Paths: paths}, nil, f.s, f.now).Denied
		if err == nil || !strings.HasPrefix(err.Message, what+" yours to change now: ") {
			t.Errorf("the denial of %q is %v", paths, err)
		}
	}
}

// TestEnforces: an open room judges edits unless its policy is off, or a word of a newer program; a closed
// one judges none.
func TestEnforces(t *testing.T) {
	for _, enforce := range []Enforce{EnforceOff, EnforceWarn, EnforceStick, EnforceScopes, "", "newer"} {
		for _, closed := range []bool{false, true} {
			r := Room{Closed: closed, Policy: Policy{Enforce: enforce}}
			equal(t, string(enforce), r.Enforces(), !closed && enforce != EnforceOff && enforce != "" && enforce != "newer")
		}
	}
}

// TestToldOnce: an editor is told once in each turn, and once in its session while nobody holds the stick.
func TestToldOnce(t *testing.T) {
	f := room(t).member("a", "b").alive("a", "b").owns("a")
	var last []Event
	edits := func() (told bool) {
		j := f.MayEdit(Editing{By: "b", Paths: []string{"x.go"}}, nil, f.s, f.now)
		if j.Told == nil || j.Denied != nil {
			t.Fatalf("got %+v", j)
		}
		if f.Told("b", last) {
			return false
		}
		last = append(last, f.commit(f.Room, []Event{f.EditTold("b", []string{"x.go"})})...)
		return true
	}
	equal(t, "in a's turn", edits(), true)
	equal(t, "again", edits(), false)
	f.must(f.release("a", f.fence(), Handoff{Status: "s", NextAction: "n"}))
	equal(t, "while nobody holds it", edits(), true)
	equal(t, "again", edits(), false)
	f.owns("a")
	equal(t, "in the next turn", edits(), true)
	f.must(f.release("a", f.fence(), Handoff{Status: "s", NextAction: "n"}))
	equal(t, "while nobody holds it, in the same session", edits(), false)
	f.after(DefaultReservationTTL).starts(Starting{By: "b", Same: true})
	equal(t, "in the next session", edits(), true)
}

// TestToldUnkeptOnce: an agent is told once in a session that no copies can be kept. That says nothing of its
// edits.
func TestToldUnkeptOnce(t *testing.T) {
	f := room(t).member("a", "b").alive("a", "b")
	equal(t, "at first", f.ToldUnkept("b", nil), false)
	last := f.commit(f.Room, []Event{f.EditTold("b", []string{"x.go"})})
	equal(t, "after an edit", f.ToldUnkept("b", last), false)
	last = f.commit(f.Room, []Event{f.UnkeptTold("b", "/srv/app")})
	equal(t, "once", f.ToldUnkept("b", last), true)
	equal(t, "of an edit", f.Told("b", last), false)
	equal(t, "in words", last[0].Say(), "b was told that no copies can be kept of /srv/app")
	f.after(DefaultReservationTTL).starts(Starting{By: "b", Same: true})
	equal(t, "in the next session", f.ToldUnkept("b", last), false)
}

// TestNoneKept: the refusal says why, what to do about it, and that the same command again goes through.
func TestNoneKept(t *testing.T) {
	f := room(t).member("a")
	why := Errorf(CodeGitFailed, "git doesn't work in /srv/app, because it belongs to another user").With("path", "/srv/app").
		Hintf("if you trust it: %s", Cmd("git config --global --add safe.directory <path>"))
	e := f.NoneKept("rm a.go", why)
	equal(t, "why", e.Message, `no copy can be kept of what "rm a.go" would take away: git doesn't work in /srv/app, because it belongs to another user`)
	equal(t, "the hint", e.Hint.String(), "if you trust it: git config --global --add safe.directory /srv/app; else copy that yourself, or run the same command again: it goes through")
}
