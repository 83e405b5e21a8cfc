package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sample = `package p

type room struct{ owner string; turn, seq int }

func (r *room) take(a string, n int) bool {
	if r.owner == "" && n >= 1 {
		r.owner, r.turn = a, r.turn+1
		r.log()
		return true
	}
	switch {
	case !r.free():
		r.seq++
	}
	return false
}
`

func TestMutants(t *testing.T) {
	ms, err := listMutants("p/p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range ms {
		name, ok := strings.CutPrefix(m.name, "p/p.go room.take: ")
		if !ok {
			t.Errorf("the name of a mutant is %s", m.name)
		}

		got = append(got, name)
		if src := string(m.changedSource()); src == sample || !strings.HasPrefix(src, "package p") {
			t.Errorf("%s changes nothing, or too much", m.name)
		}
	}

	for _, want := range []string{
		`r.owner == "" && n >= 1 → !(r.owner == "" && n >= 1)`, `r.owner == "" && n >= 1 → r.owner == ""`,
		`r.owner == "" && n >= 1 → n >= 1`,
		`r.owner == "" → r.owner != ""`, `n >= 1 → n > 1`, `1 → 2`, `r.owner → _`, `r.turn → _`,
		`r.turn+1 → r.turn - 1`, `r.log() → nothing`,
		`true → false`, `!r.free() → false && (!r.free())`, `!r.free() → true || (!r.free())`,
		`!r.free() → r.free()`, `r.seq++ → nothing`, `false → true`,
		`1 → 2 #2`,
	} {
		if i := slices.Index(got, want); i < 0 {
			t.Errorf("%s is missing in\n%s", want, strings.Join(got, "\n"))
		} else {
			got = slices.Delete(got, i, i+1)
		}
	}

	if len(got) > 0 {
		t.Errorf("too many: %s", strings.Join(got, "\n"))
	}
}

// TestDraw: the same seed draws the same mutants, even if others are added. Another seed draws others.
func TestDraw(t *testing.T) {
	var ms []mutant
	for _, c := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		ms = append(ms, mutant{name: "p.go f: " + c})
	}

	names := func(ms []mutant) (out []string) {
		for _, m := range ms {
			out = append(out, m.name)
		}
		return out
	}

	first := names(drawMutants(ms, 10, 1))
	if len(first) != 10 ||
		!slices.Equal(first, names(drawMutants(ms, 10, 1))) ||
		slices.Equal(first, names(drawMutants(ms, 10, 2))) {
		t.Errorf("drawn %q, %q, by another seed %q",
			first, names(drawMutants(ms, 10, 1)), names(drawMutants(ms, 10, 2)))
	}

	stay := 0
	for _, name := range names(drawMutants(append([]mutant{{name: "q.go g: x"}}, ms...), 10, 1)) {
		if slices.Contains(first, name) {
			stay++
		}
	}

	if stay < 9 {
		t.Errorf("one more mutant leaves %d of ten drawn", stay)
	}
	if got := drawMutants(ms, 0, 1); len(got) != len(ms) {
		t.Errorf("all are %d", len(got))
	}
}

func TestSurvivors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "survivors")
	for content, want := range map[string]string{
		"# What this is.\n\n# Equal to the original:\n# nobody sees it.\np.go f: a → b\np.go f: b → c\n": "Equal to the original: nobody sees it.",
		"# What this is.\n\np.go f: a → b\n": "",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readSurvivors(path)
		if (err != nil) != (want == "") || got["p.go f: a → b"] != want {
			t.Errorf("%q: %q, %v", content, got, err)
		}
	}
}
