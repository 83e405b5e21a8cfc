package edits_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/scope"
	"talkingstick/stick/sticktest"
)

// editors names who has edited a file, in order; somebody is "?".
func editors(f edits.EditedFile) (names []string) {
	for _, e := range f.Editors {
		if e.Agent == "" {
			e.Agent = "?"
		}
		names = append(names, string(e.Agent))
	}

	return names
}

// TestWhoEdited: what hooks have noted stays, and what they haven't is added when it is found.
func TestWhoEdited(t *testing.T) {
	one, two, three := edits.FileState{Sum: "1", Size: 10}, edits.FileState{Sum: "2", Size: 20}, edits.FileState{Sum: "3", Size: 30}
	by := func(a stick.AgentID) edits.Editor { return edits.Editor{Agent: a, Turn: 1, At: sticktest.Start} }
	noted, some := edits.EditedFile{Path: "a.go"}.Note(by("a"), one), edits.Editor{At: sticktest.Start}
	for _, tt := range []struct {
		name string
		file edits.EditedFile
		want []string
	}{
		{"an edit", noted, []string{"a"}},
		{"found as it was", noted.Find(one, some), []string{"a"}},
		{
			"found as it was, with another time",
			noted.Find(edits.FileState{Sum: "1", Size: 10, ModTime: 7}, some),
			[]string{"a"},
		},
		{"found changed", noted.Find(two, some), []string{"a", "?"}},
		{"found changed twice", noted.Find(two, some).Find(three, some), []string{"a", "?"}},
		{"found changed by one whose call it was", noted.Find(two, by("b")), []string{"a", "b"}},
		{"never noted", edits.EditedFile{Path: "a.go"}.Find(one, some), []string{"?"}},
		{"edited by another", noted.Note(by("b"), two), []string{"a", "b"}},
		{"edited again by the first", noted.Note(by("b"), two).Note(by("a"), three), []string{"b", "a"}},
		{"committed", noted.Rest(sticktest.Start), []string{"a"}},
		{"committed, and edited by another", noted.Rest(sticktest.Start).Note(by("b"), two), []string{"b"}},
		{"stashed, and back", noted.Rest(sticktest.Start).Find(one, some), []string{"a"}},
		{"committed, and changed by somebody", noted.Rest(sticktest.Start).Find(two, some), []string{"?"}},
		{
			"stashed, back, and found changed",
			noted.Rest(sticktest.Start).Find(one, some).Find(two, some),
			[]string{"a", "?"},
		},
	} {
		if got := editors(tt.file); !slices.Equal(got, tt.want) {
			t.Errorf("%s: by %v, want %v", tt.name, got, tt.want)
		}
	}

	asleep := noted.Rest(sticktest.Start).Rest(sticktest.Start.Add(time.Hour))
	sticktest.Equal(t, "asleep since", asleep.Asleep, sticktest.Start)
	sticktest.Equal(t, "forgotten at once", asleep.Forgotten(sticktest.Start), false)
	sticktest.Equal(t, "forgotten after a day", asleep.Forgotten(sticktest.Start.Add(24*time.Hour)), true)
	sticktest.Equal(t, "forgotten while it has changes", noted.Forgotten(sticktest.Start.Add(1000*time.Hour)), false)
}

// TestEditedFiles_Look: a look adds what nobody noted, lets rest what has no changes, and follows a file to its new name.
func TestEditedFiles_Look(t *testing.T) {
	state := func(sum string) edits.FileState { return edits.FileState{Sum: sum} }
	noted := func(path string, a stick.AgentID) edits.EditedFile {
		return edits.EditedFile{Path: path}.Note(edits.Editor{Agent: a, At: sticktest.Start}, state("of "+path))
	}
	for _, tt := range []struct {
		name  string
		known []edits.EditedFile
		found []edits.SeenFile
		want  string
	}{
		{"nothing", nil, nil, ""},
		{"as noted", []edits.EditedFile{noted("a", "x")}, []edits.SeenFile{{Path: "a", State: state("of a")}}, "a[x]"},
		{"one that nobody noted", nil, []edits.SeenFile{{Path: "a", State: state("1")}}, "a[?]"},
		{"a new one", nil, []edits.SeenFile{{Path: "a", State: state("1"), New: true}}, "a[b]"},
		{
			"changed since",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", State: state("1")}},
			"a[x ?]",
		},
		{
			"changed just now",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", State: state("1"), New: true}},
			"a[x b]",
		},
		{
			"touched just now, and the same",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", State: state("of a"), New: true}},
			"a[x]",
		},
		{
			"back as it was, by a call that doesn't name it",
			[]edits.EditedFile{noted("a", "x").Rest(sticktest.Start)},
			[]edits.SeenFile{{Path: "a", State: state("of a"), New: true}},
			"a[x]",
		},
		{
			"written again as it was",
			[]edits.EditedFile{noted("a", "x").Rest(sticktest.Start)},
			[]edits.SeenFile{{Path: "a", State: state("of a"), New: true, Named: true}},
			"a[x b]",
		},
		{
			"named by a call that may not have changed it",
			[]edits.EditedFile{noted("a", "x").Rest(sticktest.Start)},
			[]edits.SeenFile{{Path: "a", State: state("of a"), Named: true}},
			"a[x]",
		},
		{"removed just now", []edits.EditedFile{noted("a", "x")}, []edits.SeenFile{{Path: "a", New: true}}, "a[x b]"},
		{"committed", []edits.EditedFile{noted("a", "x")}, nil, "(a[x])"},
		{
			"not committed, and gone",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", Clean: true}},
			"(a[x])",
		},
		{
			"moved, and never committed",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", Clean: true}, {Path: "z", State: state("of a"), New: true}},
			"(a[x]) z[x]",
		},
		{
			"moved",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a"}, {Path: "z", State: state("of a")}},
			"a[x ?] z[x]",
		},
		{
			"a copy",
			[]edits.EditedFile{noted("a", "x")},
			[]edits.SeenFile{{Path: "a", State: state("of a")}, {Path: "z", State: state("of a"), New: true}},
			"a[x] z[b]",
		},
		{
			"two that were removed before they were noted",
			nil,
			[]edits.SeenFile{{Path: "a"}, {Path: "z", New: true}},
			"a[?] z[b]",
		},
	} {
		var got []string
		for _, f := range edits.Look(tt.known, tt.found, edits.Editor{Agent: "b", At: sticktest.Start}) {
			text := f.Path + fmt.Sprint(editors(f))
			if !f.Asleep.IsZero() {
				text = "(" + text + ")"
			}
			got = append(got, text)
		}

		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

// TestFold: with too many files, those without changes go first, and then one row stands for a directory.
func TestFold(t *testing.T) {
	f := func(path string, agents ...stick.AgentID) (f edits.EditedFile) {
		f.Path = path
		for _, a := range agents {
			f = f.Note(edits.Editor{Agent: a}, edits.FileState{Sum: path})
		}
		return f
	}

	files := []edits.EditedFile{
		f("a", "x"), f("d/b", "x"), f("d/c", "y", "x"), f("d/e/f", "z"), f("g", "y").Rest(sticktest.Start),
	}
	folded := []edits.EditedFile{
		{Path: "./", Editors: []edits.Editor{{Agent: "x"}}},
		{Path: "d/", Editors: []edits.Editor{{Agent: "x"}, {Agent: "y"}}},
		{Path: "d/e/", Editors: []edits.Editor{{Agent: "z"}}},
	}

	for most, want := range map[int][]edits.EditedFile{5: files, 4: files[:4], 3: folded, 2: folded[:2]} {
		if diff := cmp.Diff(want, edits.Fold(files, most)); diff != "" {
			t.Errorf("at most %d:\n%s", most, diff)
		}
	}

	if diff := cmp.Diff(folded, edits.Fold(append(slices.Clone(folded), f("d/g", "y")), 3)); diff != "" {
		t.Errorf("again:\n%s", diff)
	}
	looked := edits.Look(folded,
		[]edits.SeenFile{
			{Path: "d/b", State: edits.FileState{Sum: "1"}},
			{Path: "d/n", State: edits.FileState{Sum: "2"}, New: true},
		},
		edits.Editor{Agent: "n", At: sticktest.Start})
	if got := fmt.Sprint(editors(looked[2]), editors(looked[4])); len(looked) != 5 || got != "[x y ?] [x y n]" {
		t.Errorf("a look finds %+v", looked)
	}

	paths := []string{"d/b", "d/e/n", "none/a", "top"}
	if got := edits.FoldersOf(append(paths, "d/c")); !slices.Equal(got, []string{"./", "d/", "d/e/", "none/"}) {
		t.Errorf("their folders are %q", got)
	}
	asleep := f("none/", "y").Rest(sticktest.Start)
	got := edits.Unfold(append(slices.Clone(folded[1:]), f("d/b", "own"), asleep), paths, sticktest.Start+1)
	want := []edits.EditedFile{f("d/b", "own"), {Path: "d/e/n", Editors: folded[2].Editors}}
	if later := edits.Unfold([]edits.EditedFile{asleep}, paths, sticktest.Start); len(later) != 1 {
		t.Errorf("of what has just gone: %+v", later)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unfolded:\n%s", diff)
	}
}

// TestStarter names the member that a process has started.
func TestStarter(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("parent", "child").Alive("parent", "child")
	p := f.RunsIn("parent", 1, stick.Alive)
	sticktest.Equal(t, "of the child", edits.Starter(f.Room, stick.Lineage{Processes: []stick.Process{p}}), "parent")
	sticktest.Equal(t, "of another", edits.Starter(f.Room, stick.Lineage{}), "")
}

// TestEditedFile_KeepsAllEditors: whatever is noted and found, an agent that has edited a file since it was last clean
// is among its editors, nobody is there twice, and the state is the last one.
func TestEditedFile_KeepsAllEditors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, edited := edits.EditedFile{Path: "a"}, map[stick.AgentID]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			state := edits.FileState{Sum: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "state"))}
			switch a := stick.AgentID(rapid.SampledFrom([]string{"a", "b", "", "rest"}).Draw(t, "who")); a {
			case "rest":
				f = f.Rest(sticktest.Start)
				continue

			case "":
				if !f.Asleep.IsZero() && state.Sum != f.State.Sum {
					clear(edited)
				}
				f = f.Find(state, edits.Editor{})

			default:
				if !f.Asleep.IsZero() {
					clear(edited)
				}
				edited[a] = true
				f = f.Note(edits.Editor{Agent: a}, state)
			}

			names := editors(f)
			for a := range edited {
				if !slices.Contains(names, string(a)) {
					t.Fatalf("%s is forgotten: %v", a, names)
				}
			}

			slices.Sort(names)
			if len(slices.Compact(slices.Clone(names))) != len(names) || f.State != state {
				t.Fatalf("by %v, state %+v, want %+v", names, f.State, state)
			}
		}
	})
}

// TestWhoseEdit tells whose the changes of a file are: by who is there, who held the stick, and who has
// reserved the path.
func TestWhoseEdit(t *testing.T) {
	with := func(e ...edits.Editor) edits.EditedFile { return edits.EditedFile{Path: "src/a.go", Editors: e} }
	a, held := edits.Editor{Agent: "a"}, edits.Editor{Agent: "a", Held: true}
	holds := func(owner stick.AgentID) func(*sticktest.Fixture) {
		return func(f *sticktest.Fixture) { f.Owns(owner) }
	}
	for _, tt := range []struct {
		name   string
		file   edits.EditedFile
		setup  func(*sticktest.Fixture)
		fold   bool
		want   edits.Share
		others []stick.AgentID
	}{
		{name: "its own", file: with(edits.Editor{Agent: "b"}), want: edits.ShareOwn},
		{name: "its own, and somebody's", file: with(edits.Editor{Agent: "b"}, edits.Editor{}), want: edits.ShareOwn},
		{name: "nobody's that is known", file: with(edits.Editor{}), want: edits.ShareNobody},
		{
			name: "a live agent's, without the stick", file: with(a), want: edits.ShareOthers,
			others: []stick.AgentID{"a"},
		},
		{name: "a live agent's, with the stick", file: with(held), want: edits.SharePassed},
		{
			name: "the holder's, with the stick", file: with(held), setup: holds("a"),
			want: edits.ShareOthers, others: []stick.AgentID{"a"},
		},
		{
			name: "passed on to the holder", file: with(held), setup: holds("c"), want: edits.ShareOthers,
			others: []stick.AgentID{"c"},
		},
		{
			name: "one that is gone, and another holds the stick", file: with(a),
			setup: func(f *sticktest.Fixture) { f.Gone("a").Owns("c") }, want: edits.ShareOthers,
			others: []stick.AgentID{"c"},
		},
		{name: "passed on to who asks", file: with(held), setup: holds("b"), want: edits.SharePassed},
		{
			name: "both, and the other holds the stick", file: with(edits.Editor{Agent: "b"}, held),
			setup: holds("a"), want: edits.ShareOthers, others: []stick.AgentID{"a"},
		},
		{
			name: "its own, after a turn of another, while a third holds the stick",
			file: with(held, edits.Editor{Agent: "b"}), setup: holds("c"), want: edits.ShareOwn,
		},
		{
			name: "the holder's, who is gone", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Owns("a").Gone("a") }, want: edits.SharePassed,
		},
		{
			name: "one that is gone", file: with(a), setup: func(f *sticktest.Fixture) { f.Gone("a") },
			want: edits.SharePassed,
		},
		{
			name: "one that is gone, and claimed it", file: with(edits.Editor{Agent: "a", Claim: true}),
			setup: func(f *sticktest.Fixture) { f.Gone("a") }, want: edits.ShareOthers,
			others: []stick.AgentID{"a"},
		},
		{
			name: "a person who said so", file: with(edits.Editor{Agent: "human:x", Claim: true}),
			want: edits.ShareOthers, others: []stick.AgentID{"human:x"},
		},
		{
			name: "both have edited it", file: with(edits.Editor{Agent: "b"}, a), want: edits.ShareOthers,
			others: []stick.AgentID{"a"},
		},
		{
			name: "both, the other first", file: with(a, edits.Editor{Agent: "b"}), want: edits.ShareOthers,
			others: []stick.AgentID{"a"},
		},
		{name: "its own, after a turn of another", file: with(held, edits.Editor{Agent: "b"}), want: edits.ShareOwn},
		{
			name: "with the stick, but under a reservation", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Reserves("a", "src") },
			want:  edits.ShareOthers, others: []stick.AgentID{"a"},
		},
		{
			name: "under a reservation that is past its time", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Reserves("a", "src"); f.After(scope.DefaultTTL) },
			want:  edits.SharePassed,
		},
		{
			name: "reserved in letters of another case", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Reserves("a", "SRC") }, want: edits.SharePassed,
		},
		{
			name: "reserved in letters of another case, folded", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Reserves("a", "SRC") }, fold: true,
			want: edits.ShareOthers, others: []stick.AgentID{"a"},
		},
		{
			name: "another path is reserved", file: with(held),
			setup: func(f *sticktest.Fixture) { f.Reserves("a", "docs") }, want: edits.SharePassed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b", "c").Alive("a", "b", "c")
			if tt.setup != nil {
				tt.setup(f)
			}
			share, others := edits.WhoseEdit(f.Room, tt.file, edits.Editing{By: "b", Tree: true, Fold: tt.fold},
				f.Standing(), f.Probed, f.Now)
			if share != tt.want || !slices.Equal(others, tt.others) {
				t.Errorf("it is %s, of %v; want %s, of %v", share, others, tt.want, tt.others)
			}
		})
	}
}

// TestWhoseEdit_Child: whom the asker works under, and whom the asker has started, is no stranger to
// it.
func TestWhoseEdit_Child(t *testing.T) {
	f := sticktest.NewRoom(t).WithMembers("parent", "child").Alive("parent", "child")
	p := f.RunsIn("parent", 1, stick.Alive)
	file := edits.EditedFile{Path: "a.go", Editors: []edits.Editor{{Agent: "parent"}}}
	share, _ := edits.WhoseEdit(f.Room, file,
		edits.Editing{By: "child", Above: stick.Lineage{Processes: []stick.Process{p}}}, nil, f.Probed, f.Now)
	sticktest.Equal(t, "the parent's, for the child", share, edits.ShareOwn)

	share, _ = edits.WhoseEdit(f.Room, file, edits.Editing{By: "child"}, nil, f.Probed, f.Now)
	sticktest.Equal(t, "for another agent", share, edits.ShareOthers)
	held := edits.EditedFile{Path: "a", Editors: []edits.Editor{{Agent: "x", Held: true}}}
	f.Owns("parent")
	share, _ = edits.WhoseEdit(f.Room,
		held, edits.Editing{By: "child", Tree: true, Above: stick.Lineage{Processes: []stick.Process{p}}},
		nil, f.Probed, f.Now)
	sticktest.Equal(t, "passed on to the parent, for the child", share, edits.SharePassed)

	share, _ = edits.WhoseEdit(f.Room, held, edits.Editing{By: "child"}, nil, f.Probed, f.Now)
	sticktest.Equal(t, "in a worktree", share, edits.SharePassed)

	own := edits.EditedFile{Path: "a", Editors: []edits.Editor{{Agent: "parent", Held: true}}}
	share, others := edits.WhoseEdit(f.Room, own, edits.Editing{By: "x"}, nil, f.Probed, f.Now)
	if share != edits.ShareOthers || !slices.Equal(others, []stick.AgentID{"parent"}) {
		t.Errorf("the holder's in a worktree is %s, of %v", share, others)
	}

	file.Editors = []edits.Editor{{Agent: "child", Under: "parent"}}
	share, _ = edits.WhoseEdit(f.Room, file, edits.Editing{By: "parent"}, nil, f.Probed, f.Now)
	sticktest.Equal(t, "the child's, for the parent", share, edits.ShareOwn)
}
