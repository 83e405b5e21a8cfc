package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCollisions_known: a pair is compared again once a side, or what decides how git merges, has changed.
func TestCollisions_known(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir, fix string)
		again  bool
	}{
		{"nothing has changed", func(*testing.T, string, string) {}, false},
		{"an uncommitted change is as it was", func(t *testing.T, dir, fix string) {
			write(t, fix, "n.txt", numbered(30, nil))
			write(t, fix, "n.txt", numbered(30, map[int]string{4: "fix\n"}))
		}, false},
		{"an uncommitted change", func(t *testing.T, dir, fix string) {
			write(t, fix, "n.txt", numbered(30, map[int]string{20: "fix\n"}))
		}, true},
		{"a commit", func(t *testing.T, dir, fix string) {
			git(t, dir, "commit", "-q", "-a", "-m", "more")
		}, true},
		{"the configuration", func(t *testing.T, dir, fix string) {
			git(t, dir, "config", "merge.renames", "false")
		}, true},
		{"the attributes", func(t *testing.T, dir, fix string) {
			write(t, dir, ".git/info/attributes", "n.txt merge=union\n")
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, fix := pairOfTrees(t)
			write(t, dir, "n.txt", numbered(30, map[int]string{4: "main\n"}))
			write(t, fix, "n.txt", numbered(30, map[int]string{4: "fix\n"}))

			first, err := Client{}.Collisions(t.Context(), dir, Known{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(first.Known.Pairs) != 1 || len(first.Found) != 1 {
				t.Fatalf("%v is known of %v", first.Known, first.Found)
			}

			// What is known says something else than git would.
			known := Known{Pairs: map[string][]KnownCollision{}}
			for key := range first.Known.Pairs {
				known.Pairs[key] = []KnownCollision{{Path: "remembered"}}
			}
			c.change(t, dir, fix)

			second, err := Client{}.Collisions(t.Context(), dir, known, nil)
			if err != nil {
				t.Fatal(err)
			}
			isRemembered := len(second.Found) == 1 && second.Found[0].Path == "remembered"
			if isRemembered == c.again {
				t.Errorf("it found %v", second.Found)
			}
			if len(second.Known.Pairs) != 1 {
				t.Errorf("%v is known then", second.Known)
			}
		})
	}
}

// What is known has the same form as what was found.
func TestCollisions_known_tells_the_same(t *testing.T) {
	dir, fix := pairOfTrees(t)
	write(t, dir, "n.txt", numbered(30, map[int]string{4: "main\n"}))
	write(t, fix, "n.txt", numbered(30, map[int]string{4: "fix\n"}))
	first, seen := collide(t, t.Context(), dir)

	done := 0
	again, err := Client{}.Collisions(t.Context(), dir, seen.Known, func(n, pairs int) { done = n })
	if err != nil {
		t.Fatal(err)
	}
	second := describeCollisions(again)
	if diff := cmp.Diff(first, second); diff != "" || len(first) == 0 || done != 1 {
		t.Errorf("%s, and %d pairs were shown", diff, done)
	}
}

// aSecondLater is a clock for which what a test has just written is settled.
func aSecondLater() time.Time { return time.Now().Add(time.Second) }

// TestCollisions_known_changes: git reads uncommitted changes again once a file, the commit below or what decides
// how git stores them has changed.
func TestCollisions_known_changes(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir, fix string)
		again  bool
	}{
		{"nothing has changed", func(*testing.T, string, string) {}, false},
		{"bytes of the same number", func(t *testing.T, dir, fix string) {
			write(t, fix, "n.txt", numbered(30, map[int]string{4: "FIX\n"}))
		}, true},
		{"another file", func(t *testing.T, dir, fix string) { write(t, fix, "more.txt", "more\n") }, true},
		{"a removed file", func(t *testing.T, dir, fix string) {
			if err := os.Remove(filepath.Join(fix, "n.txt")); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"a commit", func(t *testing.T, dir, fix string) { git(t, fix, "commit", "-q", "-a", "-m", "more") }, true},
		{"a merge", func(t *testing.T, dir, fix string) {
			own, _, _ := findGitDirs(fix)
			write(t, own, "MERGE_HEAD", git(t, fix, "rev-parse", "HEAD"))
		}, true},
		{"the configuration", func(t *testing.T, dir, fix string) {
			git(t, dir, "config", "core.autocrlf", "input")
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, fix := pairOfTrees(t)
			write(t, dir, "n.txt", numbered(30, map[int]string{4: "main\n"}))
			write(t, fix, "n.txt", numbered(30, map[int]string{4: "fix\n"}))

			// What has changed just now isn't known: the next change might have the same time.
			first, err := Client{}.Collisions(t.Context(), dir, Known{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if first, err = (Client{clock: aSecondLater}).Collisions(t.Context(), dir, first.Known, nil); err != nil {
				t.Fatal(err)
			}
			if len(first.Known.Commits) != 2 {
				t.Fatalf("%v is known", first.Known)
			}

			// A commit that git would never make is known of the changes, and something else than git finds of it.
			known := Known{Pairs: map[string][]KnownCollision{}, Commits: map[string]string{}}
			made := first.Sides[1].commit
			invented := strings.Repeat("f", len(made))
			for key := range first.Known.Pairs {
				known.Pairs[strings.Replace(key, made, invented, 1)] = []KnownCollision{{Path: "remembered"}}
			}
			for key, commit := range first.Known.Commits {
				known.Commits[key] = strings.Replace(commit, made, invented, 1)
			}
			c.change(t, dir, fix)

			second, err := Client{clock: aSecondLater}.Collisions(t.Context(), dir, known, nil)
			if err != nil {
				t.Fatal(err)
			}
			isRemembered := len(second.Found) == 1 && second.Found[0].Path == "remembered"
			if isRemembered == c.again || len(second.LeftOut) > 0 {
				t.Errorf("it found %v, and left out %v", second.Found, second.LeftOut)
			}
		})
	}
}

// TestCollisions_known_changes_compared_again: the scratch gets the commit of known changes once a pair of it isn't
// known.
func TestCollisions_known_changes_compared_again(t *testing.T) {
	dir, fix := pairOfTrees(t)
	write(t, dir, "n.txt", numbered(30, map[int]string{4: "main\n"}))
	write(t, fix, "n.txt", numbered(30, map[int]string{4: "fix\n"}))
	seen, err := Client{clock: aSecondLater}.Collisions(t.Context(), dir, Known{}, nil)
	if err != nil {
		t.Fatal(err)
	}

	write(t, dir, "n.txt", numbered(30, map[int]string{4: "other\n"}))
	want, _ := collide(t, t.Context(), dir)
	again, err := Client{clock: aSecondLater}.Collisions(t.Context(), dir, seen.Known, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, describeCollisions(again)); diff != "" || len(want) == 0 || len(again.LeftOut) > 0 {
		t.Errorf("%s, left out %v", diff, again.LeftOut)
	}
}
