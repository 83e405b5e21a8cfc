package git

import (
	"testing"

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

			first, err := Client{}.Collisions(t.Context(), dir, nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(first.Known) != 1 || len(first.Found) != 1 {
				t.Fatalf("%v is known of %v", first.Known, first.Found)
			}

			// What is known says something else than git would.
			known := KnownPairs{}
			for key := range first.Known {
				known[key] = []KnownCollision{{Path: "remembered"}}
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
			if len(second.Known) != 1 {
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
