package git

import (
	"fmt"
	"strings"
	"testing"
)

// TestNewCommits lists what some refs don't have, parents first, whatever is missing.
func TestNewCommits(t *testing.T) {
	dir, first := repository(t)
	commit := func(subject string) string {
		git(t, dir, "commit", "-q", "--allow-empty", "-m", subject)
		return git(t, dir, "rev-parse", "HEAD")
	}

	main := git(t, dir, "symbolic-ref", "--short", "HEAD")
	git(t, dir, "checkout", "-qb", "side")
	commit("on the side\n\nwith a body")
	git(t, dir, "checkout", "-q", main)
	commit("on main")
	git(t, dir, "merge", "-q", "--no-edit", "side")
	tip := commit("last")

	list := func(tips, others []string, most int) string {
		all, err := Client{}.NewCommits(t.Context(), dir, tips, others, most)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, c := range all {
			if !strings.HasPrefix(c.ID, c.Short) {
				t.Errorf("%s is short for %s", c.Short, c.ID)
			}
			said = append(said, fmt.Sprintf("%s %d", c.Subject, len(c.Parents)))
		}

		return strings.Join(said, ", ")
	}

	missing := strings.Repeat("1", len(first))
	for _, c := range []struct {
		tips, others []string
		most         int
		want         string
	}{
		{[]string{tip}, []string{"side"}, 10, "on main 1, Merge branch 'side' 2, last 1"},
		{
			[]string{tip, missing},
			[]string{"side", missing, "--remotes=https://example.com/x"},
			2,
			"Merge branch 'side' 2, last 1",
		},
		{[]string{tip}, []string{"--branches", "--tags"}, 10, ""},
		{[]string{missing}, []string{missing}, 10, ""},
		{[]string{"side"}, []string{main + "~2"}, 10, "on the side 1"},
	} {
		if got := list(c.tips, c.others, c.most); got != c.want {
			t.Errorf("%v without %v: %s, want %s", c.tips, c.others, got, c.want)
		}
	}
}

// TestWhereACommitIs: in the repository, and on a remote, as the repository last saw it.
func TestWhereACommitIs(t *testing.T) {
	dir, first := repository(t)
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
	second := git(t, dir, "rev-parse", "HEAD")

	unpushed := func(commit string, want bool) {
		t.Helper()
		if got, err := (Client{}).IsUnpushed(t.Context(), dir, commit); got != want || err != nil {
			t.Errorf("unpushed: %v, %v; want %v", got, err, want)
		}
	}

	unpushed(first, true)
	git(t, dir, "update-ref", "refs/remotes/origin/main", first)
	unpushed(first, false)
	unpushed(second, true)
	git(t, dir, "update-ref", "refs/remotes/fork/x", second)
	unpushed(second, false)

	for commit, want := range map[string]bool{
		first: true, strings.Repeat("1", len(first)): false, "--batch": false, "": false,
	} {
		if got, err := (Client{}).HasCommit(t.Context(), dir, commit); got != want || err != nil {
			t.Errorf("has %q: %v, %v", commit, got, err)
		}
	}

	if has, err := (Client{}).HasCommit(t.Context(), t.TempDir(), first); has || err != nil {
		t.Errorf("outside git: %v, %v", has, err)
	}
}
