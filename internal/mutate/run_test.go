package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(testenv.Run(m)) }

// fixture is a module with functions of every form, and tests that leave some of their mutants alive.
var fixture = map[string]string{
	"go.mod":    "module fixture\n\ngo 1.24\n",
	"survivors": "# Nobody looks at it.\np/p.go unseen: 7 → 8\n",
	"p/p.go": `package p

type list[T any] []T

func (l list[T]) from(_ int, n int) T { return l[n+1] }

func pick[T any](a, b T, first bool) T {
	if first {
		return a
	}
	return b
}

func sum(ns ...int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

func count(int) int {
	n := 0
	for n < 3 {
		n++
	}
	return n
}

func (*box) put(n int) { stored = n }

type box struct{}

var stored int

func guarded() (ok bool) {
	defer restore(&ok)
	panic("guarded")
}

func restore(ok *bool) {
	*ok = recover() != nil
}

var table = made(2)

func made(n int) int { return n + 1 }

func unseen() int { return 7 }
`,
	"p/p_test.go": `package p

import "testing"

func TestForms(t *testing.T) {
	var b *box
	b.put(5)
	if (list[int]{1, 2}).from(0, 0) != 2 || !pick(true, false, true) || sum(1, 2) != 3 || count(0) != 3 || stored != 5 {
		t.Error("wrong")
	}
}

func TestGuarded(t *testing.T) {
	if !guarded() {
		t.Error("not guarded")
	}
}

func TestTable(t *testing.T) {
	if table != 3 {
		t.Error(table)
	}
}

func TestExplored(t *testing.T) {
	if pick(true, false, false) {
		t.Error("wrong")
	}
}
`,
}

// ends are those of all mutants of the fixture.
var ends = map[string]string{
	"list[T].from: 1 → 2":                          "killed\ttables, p TestForms",
	"list[T].from: n+1 → n - 1":                    "killed\ttables, p TestForms",
	"pick: first → !(first)":                       "killed\ttables, p TestForms",
	"sum: total += n → nothing":                    "doesn't build\tdeclared and not used: n",
	"count: 0 → 1":                                 "lives", // it counts to the same
	"count: n < 3 → n <= 3":                        "killed\ttables, p TestForms",
	"count: 3 → 4":                                 "killed\ttables, p TestForms",
	"count: n++ → nothing":                         "killed by the limit of time\ttables, p TestForms",
	"box.put: stored → _":                          "killed\ttables, p TestForms",
	"guarded: panic(\"guarded\") → nothing":        "doesn't build\tmissing return",
	"restore: *ok → _":                             "killed\ttables, p TestGuarded",
	"restore: recover() != nil → recover() == nil": "killed\ttables, p TestGuarded",
	"made: n + 1 → n - 1":                          "killed\ttables, p TestTable",
	"made: 1 → 2":                                  "killed\ttables, p TestTable",
	"unseen: 7 → 8":                                "lives",
}

func newRun(t *testing.T) *run {
	dir := t.TempDir()
	for name, text := range fixture {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	t.Chdir(dir)
	all := regexp.MustCompile("")
	return &run{
		dir: "p", list: "survivors", parallel: 2, limit: 2 * time.Second, only: all, phases: all,
		record: record{path: "out"},
	}
}

// TestRun: each form of a function gets its mutants, and each end is found. The mutants of the function that
// recovers have builds of their own.
func TestRun(t *testing.T) {
	r := newRun(t)
	want := maps.Clone(ends)
	alone := 2
	if testenv.Leaves(t, testenv.Every, "mutants that loop, and those with builds of their own") {
		r.only = regexp.MustCompile(`go (list|pick|sum|count: [^n]|count: n <|box|guarded|made|unseen)`)
		maps.DeleteFunc(want, func(name, _ string) bool { return !r.only.MatchString("p/p.go " + name) })
		alone = 0
	}

	err := r.runAll(t.Context())
	if err == nil || err.Error() != "lives, and isn't in survivors: p/p.go count: 0 → 1" {
		t.Error(err)
	}
	if r.countAlone() != alone {
		t.Errorf("%d mutants have builds of their own", r.countAlone())
	}

	b, err := os.ReadFile("out")
	if err != nil {
		t.Fatal(err)
	}

	for line := range strings.Lines(string(b)) {
		name, end, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "p/p.go "), "\t")
		if want[name] != end {
			t.Errorf("%s: %q, not %q", name, end, want[name])
		}
		delete(want, name)
	}

	for name := range want {
		t.Errorf("missing: %s", name)
	}
}
