package edits_test

import (
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

func TestMayEdit(t *testing.T) {
	tests := []struct {
		name    string
		enforce stick.Enforce
		setup   func(*sticktest.Fixture)
		ask     edits.Editing // by b unless it says otherwise
		denied  []string
		says    string
	}{
		{name: "nothing is enforced", enforce: stick.EnforceOff, ask: edits.Editing{Paths: []string{"src/a.go"}}},
		{
			name: "without the stick", enforce: stick.EnforceStick,
			ask: edits.Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
			says: "a has just taken the stick",
		},
		{name: "the holder", enforce: stick.EnforceStick, ask: edits.Editing{By: "a", Paths: []string{"src/a.go"}}},
		{name: "the holder, all of the tree", enforce: stick.EnforceStick, ask: edits.Editing{By: "a", Tree: true}},
		{
			name: "all of the tree", enforce: stick.EnforceStick, ask: edits.Editing{Tree: true},
			denied: []string{}, says: "the working tree isn't yours to change",
		},
		{
			name: "a person", enforce: stick.EnforceStick,
			ask: edits.Editing{By: "human:x", Person: true, Paths: []string{"src/a.go"}},
		},
		{
			name: "one that never joined", enforce: stick.EnforceStick,
			ask: edits.Editing{By: "z", Paths: []string{"a"}}, denied: []string{"a"},
		},
		{
			name: "git's own files", enforce: stick.EnforceStick,
			ask: edits.Editing{Paths: []string{".git/config", "sub/.git/HEAD", "worktrees/x/a.go"}},
		},
		{
			name: "a reservation signals only", enforce: stick.EnforceStick,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{
			name: "a scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"src/a.go"}},
		},
		{
			name: "beyond a scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"src/a.go", "docs/a.md"}}, denied: []string{"docs/a.md"},
		},
		{
			name: "all of the tree needs the stick", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") }, ask: edits.Editing{Tree: true},
			denied: []string{},
		},
		{
			name: "the earlier decides", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("c", "src/*.go"); f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"src/b.md", "src/a.go"}}, denied: []string{"src/a.go"},
			says: "c has reserved src/*.go",
		},
		{
			name: "a stale one decides nothing", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("c", "src/*.go"); f.Reserves("b", "src"); f.Gone("c") },
			ask:   edits.Editing{Paths: []string{"src/a.go"}},
		},
		{
			name: "a scope that is stale", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src"); f.After(scope.DefaultTTL) },
			ask:   edits.Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{
			name: "anything anywhere needs the stick", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "**/*.go") },
			ask:   edits.Editing{Paths: []string{"src/a.go"}}, denied: []string{"src/a.go"},
		},
		{
			name: "the holder in another's scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{By: "a", Paths: []string{"src/a.go"}},
		},
		{
			name: "letters of another case", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"SRC/a.go"}}, denied: []string{"SRC/a.go"},
		},
		{
			name: "letters of another case, folded", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Paths: []string{"SRC/a.go"}, Fold: true},
		},
		{
			name: "a directory in a scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src") },
			ask:   edits.Editing{Dirs: []string{"src", "src/lib"}},
		},
		{
			name: "a directory that holds an earlier scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("c", "src/lib"); f.Reserves("b", "src") },
			ask:   edits.Editing{Dirs: []string{"src", "src/sub"}}, denied: []string{"src"},
			says: "src isn't yours to change now: c has reserved src/lib",
		},
		{
			name: "a directory that holds a later scope", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src"); f.Reserves("c", "src/lib") },
			ask:   edits.Editing{Dirs: []string{"src"}},
		},
		{
			name: "a directory of which a part is reserved", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src/lib") },
			ask:   edits.Editing{Dirs: []string{"src"}}, denied: []string{"src"}, says: "a has just taken the stick",
		},
		{
			name: "a directory that another's pattern reaches into", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("c", "src/*/gen.go"); f.Reserves("b", "src") },
			ask:   edits.Editing{Dirs: []string{"src/lib"}}, denied: []string{"src/lib"},
			says: "c has reserved src/*/gen.go",
		},
		{
			name:    "a later scope inside of an own one, in a directory that was reserved last",
			enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) {
				f.Reserves("b", "src/lib")
				f.Reserves("c", "src/lib/x")
				f.Reserves("b", "src")
			},
			ask: edits.Editing{Dirs: []string{"src"}},
		},
		{
			name: "a directory by a pattern of what lies in it", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src/*") },
			ask:   edits.Editing{Dirs: []string{"src/lib"}}, denied: []string{"src/lib"},
		},
		{
			name: "a directory, the holder", enforce: stick.EnforceScopes,
			setup: func(f *sticktest.Fixture) { f.Reserves("b", "src/lib") },
			ask:   edits.Editing{By: "a", Dirs: []string{"src"}},
		},
		{
			name: "directories outside of all scopes", enforce: stick.EnforceStick,
			ask: edits.Editing{Dirs: []string{".git", "worktrees", "sub/.git/hooks"}},
		},
		{
			name: "a helper", enforce: stick.EnforceStick,
			setup: func(f *sticktest.Fixture) {
				f.Starts(presence.Starting{By: "a", Same: true, Helper: true, Seed: "x"})
			},
			ask: edits.Editing{
				By: "a", Paths: []string{"docs/plan.md", "docs/a.md"},
				PrimaryOnly: []glob.Pattern{"docs/plan.md"},
			},
			denied: []string{"docs/plan.md"}, says: "docs/plan.md is the primary's to change, and you are a helper",
		},
		{
			name: "a helper and a directory", enforce: stick.EnforceStick,
			setup: func(f *sticktest.Fixture) {
				f.Starts(presence.Starting{By: "a", Same: true, Helper: true, Seed: "x"})
			},
			ask: edits.Editing{
				By: "a", Dirs: []string{"docs", "src"},
				PrimaryOnly: []glob.Pattern{"docs/plan.md", "**/*.org"},
			},
			denied: []string{"docs"},
			says:   "docs holds docs/plan.md, which is the primary's to change, and you are a helper",
		},
		{
			name: "one that was removed", enforce: stick.EnforceStick,
			setup: func(f *sticktest.Fixture) { f.Must(f.TryKick(stick.Kicking{By: "a", Who: "b", Force: true})) },
			ask:   edits.Editing{Paths: []string{"a"}}, denied: []string{"a"}, says: "you were removed",
		},
		{name: "a closed room", enforce: stick.EnforceStick, setup: func(f *sticktest.Fixture) {
			f.Must(f.TryClose(stick.Closing{
				By: "a", Fence: f.Fence(), Handoff: &stick.Handoff{Status: "s", NextAction: "n"},
			}))
		}, ask: edits.Editing{Paths: []string{"a"}}},
	}

	for _, tt := range slices.Clone(tests) {
		if tt.enforce == stick.EnforceScopes { // what this policy denies, warn tells
			tt.name, tt.enforce = "warned: "+tt.name, stick.EnforceWarn
			tests = append(tests, tt)
		}
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c").
				WithPolicy("enforce=" + string(tt.enforce)).Owns("c")
			f.Must(f.TryRelease("c", f.Fence(), stick.Handoff{Status: "s", NextAction: "review it"}))
			f.Owns("a")
			if tt.setup != nil {
				tt.setup(f)
			}
			if tt.ask.By == "" {
				tt.ask.By = "b"
			}
			j := edits.MayEdit(f.Room, tt.ask, f.Standing(), f.Probed, f.Now)
			no := j.Denied
			if tt.enforce == stick.EnforceWarn {
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
			got := no.Fields["paths"].([]string)
			if no.Code != stick.CodeEditDenied ||
				!slices.Equal(got, tt.denied) ||
				!strings.Contains(no.Message, tt.says) ||
				len(no.Hint) == 0 {
				t.Errorf("denied %v: %s (%s)", got, no.Message, no.Hint)
			}
		})
	}
}

// TestStepToEditWhatIsReserved: whoever has reserved a path is asked as well as the holder of the stick, and
// once if that is the same agent.
func TestStepToEditWhatIsReserved(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c").WithPolicy("enforce=scopes")
	f.Reserves("c", "src")
	step := func() string {
		return edits.MayEdit(f.Room, edits.Editing{By: "b", Paths: []string{"src/a.go"}}, f.Standing(), f.Probed,
			f.Now).Denied.Hint.String()
	}
	sticktest.Equal(t, "nobody holds the stick", step(), `ask: tt msg send c "…"; or take the turn: tt wait`)

	f.Owns("a")
	sticktest.Equal(t, "another holds it", step(), `ask: tt msg send c "…"; or `+f.NextStep().String())
	f.Must(f.TryRelease("a", f.Fence(), stick.Handoff{Status: "s", NextAction: "n"}))
	f.Owns("c")
	sticktest.Equal(t, "the same agent holds it", step(), f.NextStep().String())
}

func TestPolicy_OnlyPersonRelaxesEnforce(t *testing.T) {
	order := []string{"off", "warn", "scopes", "stick"}
	for i, from := range order {
		for j, to := range order {
			f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("enforce=" + from)
			_, _, err := f.SetPolicy("a", false, []string{"enforce=" + to}, f.Now)
			if denied := stick.CodeOf(err) == stick.CodePersonOnly; denied != (j < i) {
				t.Errorf("an agent sets enforce from %s to %s: %v", from, to, err)
			}
		}
	}
}

// TestMatcher compares Matcher with Match.
func TestMatcher(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "A", "b", "*", "?", "**", "[ab]", ".git", "worktrees", "a*"})
	rapid.Check(t, func(t *rapid.T) {
		p, err := scope.ParsePattern(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "pattern"), "/"))
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
		p, err := scope.ParsePattern(strings.Join(rapid.SliceOfN(part, 1, 4).Draw(t, "pattern"), "/"))
		if err != nil {
			t.Skip(err)
		}
		fold := rapid.Bool().Draw(t, "fold")
		dir := strings.Join(rapid.SliceOfN(name, 1, 3).Draw(t, "directory"), "/")
		meets, covers := p.Meets(dir, fold), p.Covers(dir, fold)
		q, err := scope.ParsePattern(glob.Quote(dir))
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

		if !covers &&
			p.Match(dir, fold) &&
			p.Match(dir+"/cc", fold) &&
			p.Match(dir+"/cc/d/ee/f/gg", fold) &&
			p.Match(dir+"/c/dd", fold) {
			t.Fatalf("%s means all of %s, and doesn't cover it", p, dir)
		}
	})
}

// TestDenialNamesTheFirstPath: and says how many more there are.
func TestDenialNamesTheFirstPath(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").WithPolicy("enforce=stick").Owns("a")
	for what, paths := range map[string][]string{
		"x.go isn't": {"x.go"}, "x.go and 2 more aren't": {"x.go", "y.go", "z.go"},
	} {
		err := edits.MayEdit(f.Room, edits.Editing{By: "b", Paths: paths}, nil, f.Probed, f.Now).Denied
		if err == nil || !strings.HasPrefix(err.Message, what+" yours to change now: ") {
			t.Errorf("the denial of %q is %v", paths, err)
		}
	}
}

// TestEnforces: an open room judges edits unless its policy is off, or a word of a newer program; a closed
// one judges none.
func TestEnforces(t *testing.T) {
	for _, enforce := range []stick.Enforce{
		stick.EnforceOff, stick.EnforceWarn, stick.EnforceStick, stick.EnforceScopes, "", "newer",
	} {
		for _, closed := range []bool{false, true} {
			r := stick.Room{Closed: closed, Policy: stick.Policy{Enforce: enforce}}
			sticktest.Equal(t, string(enforce), edits.Enforces(r),
				!closed && enforce != stick.EnforceOff && enforce != "" && enforce != "newer")
		}
	}
}

// TestTold_OncePerTurn: an editor is told once in each turn, and once in its session while nobody holds the stick.
func TestTold_OncePerTurn(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b").Owns("a")
	var last []stick.Event
	edits := func() (told bool) {
		j := edits.MayEdit(f.Room, edits.Editing{By: "b", Paths: []string{"x.go"}}, nil, f.Probed, f.Now)
		if j.Told == nil || j.Denied != nil {
			t.Fatalf("got %+v", j)
		}
		if edits.Told(f.Room, "b", last) {
			return false
		}

		last = append(last, f.Commit(f.Room, []stick.Event{edits.EditTold(f.Room, "b", []string{"x.go"})})...)
		return true
	}

	sticktest.Equal(t, "in a's turn", edits(), true)
	sticktest.Equal(t, "again", edits(), false)
	f.Must(f.TryRelease("a", f.Fence(), stick.Handoff{Status: "s", NextAction: "n"}))
	sticktest.Equal(t, "while nobody holds it", edits(), true)
	sticktest.Equal(t, "again", edits(), false)

	f.Owns("a")
	sticktest.Equal(t, "in the next turn", edits(), true)
	f.Must(f.TryRelease("a", f.Fence(), stick.Handoff{Status: "s", NextAction: "n"}))
	sticktest.Equal(t, "while nobody holds it, in the same session", edits(), false)

	f.After(scope.DefaultTTL).Starts(presence.Starting{By: "b", Same: true})
	sticktest.Equal(t, "in the next session", edits(), true)
}

// TestToldUnkept_OncePerSession: an agent is told once in a session that no copies can be kept. That says nothing of its
// edits.
func TestToldUnkept_OncePerSession(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a", "b").Alive("a", "b")
	sticktest.Equal(t, "at first", edits.ToldUnkept(f.Room, "b", nil), false)
	last := f.Commit(f.Room, []stick.Event{edits.EditTold(f.Room, "b", []string{"x.go"})})
	sticktest.Equal(t, "after an edit", edits.ToldUnkept(f.Room, "b", last), false)

	last = f.Commit(f.Room, []stick.Event{edits.UnkeptTold(f.Room, "b", "/srv/app")})
	sticktest.Equal(t, "once", edits.ToldUnkept(f.Room, "b", last), true)
	sticktest.Equal(t, "of an edit", edits.Told(f.Room, "b", last), false)
	sticktest.Equal(t, "in words", last[0].Say(), "b was told that no copies can be kept of /srv/app")

	f.After(scope.DefaultTTL).Starts(presence.Starting{By: "b", Same: true})
	sticktest.Equal(t, "in the next session", edits.ToldUnkept(f.Room, "b", last), false)
}

// TestNoneKept: the refusal says why, what to do about it, and that the same command again goes through.
func TestNoneKept(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("a")
	why := stick.Errorf(stick.CodeGitFailed,
		"git doesn't work in /srv/app, because it belongs to another user").With("path", "/srv/app").
		Hintf("if you trust it: %s", stick.Cmd("git config --global --add safe.directory <path>"))
	e := edits.NoneKept(f.Room, "rm a.go", why)
	sticktest.Equal(t, "why",
		e.Message,
		`no copy can be kept of what "rm a.go" would take away: git doesn't work in /srv/app, because it belongs to another user`)
	sticktest.Equal(t, "the hint",
		e.Hint.String(),
		"if you trust it: git config --global --add safe.directory /srv/app; else copy that yourself, or run the same command again: it goes through")
}
