package stick

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// editors names who has edited a file, in order; somebody is "?".
func editors(f EditedFile) (names []string) {
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
	one, two, three := FileState{Sum: "1", Size: 10}, FileState{Sum: "2", Size: 20}, FileState{Sum: "3", Size: 30}
	by := func(a AgentID) Editor { return Editor{Agent: a, Turn: 1, At: start} }
	noted, some := EditedFile{Path: "a.go"}.Note(by("a"), one), Editor{At: start}
	for _, tt := range []struct {
		name string
		file EditedFile
		want []string
	}{
		{"an edit", noted, []string{"a"}},
		{"found as it was", noted.Find(one, some), []string{"a"}},
		{"found as it was, with another time", noted.Find(FileState{Sum: "1", Size: 10, ModTime: 7}, some), []string{"a"}},
		{"found changed", noted.Find(two, some), []string{"a", "?"}},
		{"found changed twice", noted.Find(two, some).Find(three, some), []string{"a", "?"}},
		{"found changed by one whose call it was", noted.Find(two, by("b")), []string{"a", "b"}},
		{"never noted", EditedFile{Path: "a.go"}.Find(one, some), []string{"?"}},
		{"edited by another", noted.Note(by("b"), two), []string{"a", "b"}},
		{"edited again by the first", noted.Note(by("b"), two).Note(by("a"), three), []string{"b", "a"}},
		{"committed", noted.Rest(start), []string{"a"}},
		{"committed, and edited by another", noted.Rest(start).Note(by("b"), two), []string{"b"}},
		{"stashed, and back", noted.Rest(start).Find(one, some), []string{"a"}},
		{"committed, and changed by somebody", noted.Rest(start).Find(two, some), []string{"?"}},
		{"stashed, back, and found changed", noted.Rest(start).Find(one, some).Find(two, some), []string{"a", "?"}},
	} {
		if got := editors(tt.file); !slices.Equal(got, tt.want) {
			t.Errorf("%s: by %v, want %v", tt.name, got, tt.want)
		}
	}
	asleep := noted.Rest(start).Rest(start.Add(time.Hour))
	equal(t, "asleep since", asleep.Asleep, start)
	equal(t, "forgotten at once", asleep.Forgotten(start), false)
	equal(t, "forgotten after a day", asleep.Forgotten(start.Add(24*time.Hour)), true)
	equal(t, "forgotten while it has changes", noted.Forgotten(start.Add(1000*time.Hour)), false)
}

// TestLook: a look adds what nobody noted, lets rest what has no changes, and follows a file to its new name.
func TestLook(t *testing.T) {
	state := func(sum string) FileState { return FileState{Sum: sum} }
	noted := func(path string, a AgentID) EditedFile {
		return EditedFile{Path: path}.Note(Editor{Agent: a, At: start}, state("of "+path))
	}
	for _, tt := range []struct {
		name  string
		known []EditedFile
		found []SeenFile
		want  string
	}{
		{"nothing", nil, nil, ""},
		{"as noted", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", State: state("of a")}}, "a[x]"},
		{"one that nobody noted", nil, []SeenFile{{Path: "a", State: state("1")}}, "a[?]"},
		{"a new one", nil, []SeenFile{{Path: "a", State: state("1"), New: true}}, "a[b]"},
		{"changed since", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", State: state("1")}}, "a[x ?]"},
		{"changed just now", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", State: state("1"), New: true}}, "a[x b]"},
		{"touched just now, and the same", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", State: state("of a"), New: true}}, "a[x]"},
		{"removed just now", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", New: true}}, "a[x b]"},
		{"committed", []EditedFile{noted("a", "x")}, nil, "(a[x])"},
		{"not committed, and gone", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", Clean: true}}, "(a[x])"},
		{
			"moved, and never committed",
			[]EditedFile{noted("a", "x")},
			[]SeenFile{{Path: "a", Clean: true}, {Path: "z", State: state("of a"), New: true}},
			"(a[x]) z[x]",
		},
		{"moved", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a"}, {Path: "z", State: state("of a")}}, "a[x ?] z[x]"},
		{"a copy", []EditedFile{noted("a", "x")}, []SeenFile{{Path: "a", State: state("of a")}, {Path: "z", State: state("of a"), New: true}}, "a[x] z[b]"},
		{"two that were removed before they were noted", nil, []SeenFile{{Path: "a"}, {Path: "z", New: true}}, "a[?] z[b]"},
	} {
		var got []string
		for _, f := range Look(tt.known, tt.found, Editor{Agent: "b", At: start}) {
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
	f := func(path string, agents ...AgentID) (f EditedFile) {
		f.Path = path
		for _, a := range agents {
			f = f.Note(Editor{Agent: a}, FileState{Sum: path})
		}
		return f
	}
	files := []EditedFile{f("a", "x"), f("d/b", "x"), f("d/c", "y", "x"), f("d/e/f", "z"), f("g", "y").Rest(start)}
	folded := []EditedFile{
		{Path: "./", Editors: []Editor{{Agent: "x"}}},
		{Path: "d/", Editors: []Editor{{Agent: "x"}, {Agent: "y"}}},
		{Path: "d/e/", Editors: []Editor{{Agent: "z"}}},
	}
	for most, want := range map[int][]EditedFile{5: files, 4: files[:4], 3: folded, 2: folded[:2]} {
		if diff := cmp.Diff(want, Fold(files, most)); diff != "" {
			t.Errorf("at most %d:\n%s", most, diff)
		}
	}
	if diff := cmp.Diff(folded, Fold(append(slices.Clone(folded), f("d/g", "y")), 3)); diff != "" {
		t.Errorf("again:\n%s", diff)
	}
	looked := Look(folded, []SeenFile{{Path: "d/b", State: FileState{Sum: "1"}}, {Path: "d/n", State: FileState{Sum: "2"}, New: true}}, Editor{Agent: "n", At: start})
	if got := fmt.Sprint(editors(looked[2]), editors(looked[4])); len(looked) != 5 || got != "[x y ?] [x y n]" {
		t.Errorf("a look finds %+v", looked)
	}
}

// TestStarter names the member that a process has started.
func TestStarter(t *testing.T) {
	f := room(t).member("parent", "child").alive("parent", "child")
	p := f.runsIn("parent", 1, Alive)
	equal(t, "of the child", f.Starter(Lineage{Processes: []Process{p}}), "parent")
	equal(t, "of another", f.Starter(Lineage{}), "")
}

// TestNobodyIsForgotten: whatever is noted and found, an agent that has edited a file since it was last clean
// is among its editors, nobody is there twice, and the state is the last one.
func TestNobodyIsForgotten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, edited := EditedFile{Path: "a"}, map[AgentID]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			state := FileState{Sum: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "state"))}
			switch a := AgentID(rapid.SampledFrom([]string{"a", "b", "", "rest"}).Draw(t, "who")); a {
			case "rest":
				f = f.Rest(start)
				continue
			case "":
				if !f.Asleep.IsZero() && state.Sum != f.State.Sum {
					clear(edited)
				}
				f = f.Find(state, Editor{})
			default:
				if !f.Asleep.IsZero() {
					clear(edited)
				}
				edited[a] = true
				f = f.Note(Editor{Agent: a}, state)
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
	with := func(e ...Editor) EditedFile { return EditedFile{Path: "src/a.go", Editors: e} }
	a, held := Editor{Agent: "a"}, Editor{Agent: "a", Held: true}
	holds := func(owner AgentID) func(*fixture) { return func(f *fixture) { f.owns(owner) } }
	for _, tt := range []struct {
		name   string
		file   EditedFile
		setup  func(*fixture)
		fold   bool
		want   Share
		others []AgentID
	}{
		{name: "its own", file: with(Editor{Agent: "b"}), want: ShareOwn},
		{name: "its own, and somebody's", file: with(Editor{Agent: "b"}, Editor{}), want: ShareOwn},
		{name: "nobody's that is known", file: with(Editor{}), want: ShareNobody},
		{name: "a live agent's, without the stick", file: with(a), want: ShareOthers, others: []AgentID{"a"}},
		{name: "a live agent's, with the stick", file: with(held), want: SharePassed},
		{name: "the holder's, with the stick", file: with(held), setup: holds("a"), want: ShareOthers, others: []AgentID{"a"}},
		{name: "passed on to the holder", file: with(held), setup: holds("c"), want: ShareOthers, others: []AgentID{"c"}},
		{name: "one that is gone, and another holds the stick", file: with(a), setup: func(f *fixture) { f.gone("a").owns("c") }, want: ShareOthers, others: []AgentID{"c"}},
		{name: "passed on to who asks", file: with(held), setup: holds("b"), want: SharePassed},
		{name: "both, and the other holds the stick", file: with(Editor{Agent: "b"}, held), setup: holds("a"), want: ShareOthers, others: []AgentID{"a"}},
		{name: "its own, after a turn of another, while a third holds the stick", file: with(held, Editor{Agent: "b"}), setup: holds("c"), want: ShareOwn},
		{name: "the holder's, who is gone", file: with(held), setup: func(f *fixture) { f.owns("a").gone("a") }, want: SharePassed},
		{name: "one that is gone", file: with(a), setup: func(f *fixture) { f.gone("a") }, want: SharePassed},
		{name: "one that is gone, and claimed it", file: with(Editor{Agent: "a", Claim: true}), setup: func(f *fixture) { f.gone("a") }, want: ShareOthers, others: []AgentID{"a"}},
		{name: "a person who said so", file: with(Editor{Agent: "human:x", Claim: true}), want: ShareOthers, others: []AgentID{"human:x"}},
		{name: "both have edited it", file: with(Editor{Agent: "b"}, a), want: ShareOthers, others: []AgentID{"a"}},
		{name: "both, the other first", file: with(a, Editor{Agent: "b"}), want: ShareOthers, others: []AgentID{"a"}},
		{name: "its own, after a turn of another", file: with(held, Editor{Agent: "b"}), want: ShareOwn},
		{
			name: "with the stick, but under a reservation", file: with(held), setup: func(f *fixture) { f.reserves("a", "src") },
			want: ShareOthers, others: []AgentID{"a"},
		},
		{
			name: "under a reservation that is past its time", file: with(held),
			setup: func(f *fixture) { f.reserves("a", "src"); f.after(DefaultReservationTTL) }, want: SharePassed,
		},
		{
			name: "reserved in letters of another case", file: with(held), setup: func(f *fixture) { f.reserves("a", "SRC") }, want: SharePassed,
		},
		{
			name: "reserved in letters of another case, folded", file: with(held), setup: func(f *fixture) { f.reserves("a", "SRC") }, fold: true,
			want: ShareOthers, others: []AgentID{"a"},
		},
		{
			name: "another path is reserved", file: with(held), setup: func(f *fixture) { f.reserves("a", "docs") }, want: SharePassed,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := room(t).member("a", "b", "c").alive("a", "b", "c")
			if tt.setup != nil {
				tt.setup(f)
			}
			share, others := f.WhoseEdit(tt.file, Editing{By: "b", Tree: true, Fold: tt.fold}, f.standing(), f.s, f.now)
			if share != tt.want || !slices.Equal(others, tt.others) {
				t.Errorf("it is %s, of %v; want %s, of %v", share, others, tt.want, tt.others)
			}
		})
	}
}

// TestAChildsEditIsNoOthers: whom the asker works under, and whom the asker has started, is no stranger to
// it.
func TestAChildsEditIsNoOthers(t *testing.T) {
	f := room(t).member("parent", "child").alive("parent", "child")
	p := f.runsIn("parent", 1, Alive)
	file := EditedFile{Path: "a.go", Editors: []Editor{{Agent: "parent"}}}
	share, _ := f.WhoseEdit(file, Editing{By: "child", Above: Lineage{Processes: []Process{p}}}, nil, f.s, f.now)
	equal(t, "the parent's, for the child", share, ShareOwn)
	share, _ = f.WhoseEdit(file, Editing{By: "child"}, nil, f.s, f.now)
	equal(t, "for another agent", share, ShareOthers)
	held := EditedFile{Path: "a", Editors: []Editor{{Agent: "x", Held: true}}}
	f.owns("parent")
	share, _ = f.WhoseEdit(held, Editing{By: "child", Tree: true, Above: Lineage{Processes: []Process{p}}}, nil, f.s, f.now)
	equal(t, "passed on to the parent, for the child", share, SharePassed)
	share, _ = f.WhoseEdit(held, Editing{By: "child"}, nil, f.s, f.now)
	equal(t, "in a worktree", share, SharePassed)
	file.Editors = []Editor{{Agent: "child", Under: "parent"}}
	share, _ = f.WhoseEdit(file, Editing{By: "parent"}, nil, f.s, f.now)
	equal(t, "the child's, for the parent", share, ShareOwn)
}
