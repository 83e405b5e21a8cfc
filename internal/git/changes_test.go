package git

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// tree stores files as a tree of git, and returns its name.
func (w *work) tree(files map[string]string) string {
	w.Helper()
	store := func(in string, args ...string) string {
		var out bytes.Buffer
		err := w.Client.runWrite(w.Context(), writeCall{dir: w.dir, in: strings.NewReader(in), out: &out}, args...)
		if err != nil {
			w.Fatal(err)
		}
		return strings.TrimSpace(out.String())
	}

	var list strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&list, "100644 blob %s\t%s\x00", store(files[name], "hash-object", "-w", "--stdin"), name)
	}
	return store(list.String(), "mktree", "-z")
}

// lines splits a file.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// TestLinesAreFollowedAsGitDoes: for any two versions of a file, under one name or renamed, the lines that
// are found again are those that git keeps: each has the same text there, none is found twice, and as many
// are lost as git says it removed.
func TestLinesAreFollowedAsGitDoes(t *testing.T) {
	testenv.Alone(t)

	w := newWork(t)
	rapid.Check(t, func(r *rapid.T) {
		line := rapid.SampledFrom([]string{
			"", "a", "b", "}", "-- a/x", "++ b/x", "@@ -1 +1 @@", "diff --git a/x b/x", `\ No newline`,
			"\x00", "ä",
		})
		text := rapid.Custom(func(r *rapid.T) string {
			s := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(r, "lines"), "\n")
			return strings.TrimLeft(strings.ReplaceAll(s, "\x00", "nul"), "\n") + rapid.SampledFrom([]string{"", "\n"}).Draw(r, "end")
		})

		before, after := text.Draw(r, "before"), text.Draw(r, "after")
		name := rapid.SampledFrom([]string{"x", "new name", "a\tb", "größe", `q"\`}).Draw(r, "name")
		from, to := w.tree(map[string]string{"x": before, "other": "o"}), w.tree(map[string]string{name: after, "other": "p"})
		changes, err := w.Changes(w.Context(), w.dir, from, to)
		if err != nil {
			r.Fatal(err)
		}

		stats, err := w.Stat(w.Context(), w.dir, from, to)
		if err != nil || len(stats) != len(changes) {
			r.Fatalf("%v, %v, %v", changes, stats, err)
		}
		hunks, err := w.Hunks(w.Context(), w.dir, from, to, changes)
		if err != nil {
			r.Fatal(err)
		}

		for i, x := range changes {
			if x.Path == "" || x.From == "" || x.From == "other" {
				continue
			}

			was, is, last, lost := lines(before), lines(after), 0, 0
			for n := range was {
				at, ok := hunks[x].Follow(stick.Lines{n + 1, n + 1})
				if !ok {
					lost++
					continue
				}

				if at[0] != at[1] || at[0] <= last || at[0] > len(is) || is[at[0]-1] != was[n] {
					r.Fatalf("line %d, %q, is found at %v of %q", n+1, was[n], at, is)
				}
				last = at[0]
			}

			if lost != stats[i].Deleted {
				r.Fatalf("%d lines are lost, and git removed %d: %v", lost, stats[i].Deleted, hunks[x])
			}
		}
	})
}

// TestChanges: added, removed, changed and renamed files, and the hunks of those that are asked for.
func TestChanges(t *testing.T) {
	w := newWork(t)
	body := strings.Repeat("some line\n", 20)
	from := w.tree(map[string]string{"gone": "g\n", "same": "s\n", "old name": body, "mode": "m\n", "bin": "\x00a"})
	to := w.tree(map[string]string{
		"new": "n\n", "same": "s\n", "new näme": body + "more\n", "mode": "m\nn\n", "bin": "\x00b",
	})
	changes, err := w.Changes(w.Context(), w.dir, from, to)
	if err != nil {
		t.Fatal(err)
	}

	want := []Change{{"bin", "bin"}, {"gone", ""}, {"mode", "mode"}, {"", "new"}, {"old name", "new näme"}}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.From+a.Path, b.From+b.Path) })
	slices.SortFunc(want, func(a, b Change) int { return strings.Compare(a.From+a.Path, b.From+b.Path) })
	if !slices.Equal(changes, want) {
		t.Fatalf("%v", changes)
	}

	hunks, err := w.Hunks(w.Context(), w.dir, from, to, changes[1:])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(hunks), "map[{ new}:[{0 0 1 1}] {gone }:[{1 1 0 0}] {mode mode}:[{1 0 2 1}] {old name new näme}:[{20 0 21 1}]]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if none, err := w.Hunks(w.Context(), w.dir, from, to, nil); err != nil || len(none) != 0 {
		t.Errorf("of no files: %v, %v", none, err)
	}
	if _, err := w.Changes(w.Context(), w.dir, "nonsense", to); err == nil {
		t.Error("there is no such commit")
	}
}
