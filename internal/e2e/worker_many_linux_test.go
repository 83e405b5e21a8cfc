package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
)

// judged is a gate that writes down which commits it judged, and is red where a file says bad.
func (f *farm) judged(log string) {
	f.Helper()
	f.write(".talking-stick.toml",
		"[gate]\ncommand = \"! grep -q bad f-* 2>/dev/null && git rev-parse HEAD >>'"+log+"'\"\n")
	f.git("add", ".")
	f.git("commit", "--quiet", "-m", "gate")
}

// together runs a function n times at once.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}

// TestManyWorkers has twenty workers finish at once, two of them with work that the gate refuses, and four
// merges of everything run beside each other; in a short run seven, one and two. Every gate runs on exactly
// the commit that lands, no merge is lost or made twice, and the gate is green on every commit that the
// branch was at.
func TestManyWorkers(t *testing.T) {
	workers, mergers := 20, 4
	if testenv.Leaves(t, testenv.Every, "20 workers and 4 merges at once, where 7 and 2 are") {
		workers, mergers = 7, 2
	}

	f := newFarm(t)
	log := filepath.Join(f.base, "judged")
	f.judged(log)
	f.ok("claude:boss", "worker", "init")
	start := f.git("rev-parse", "integration")
	f.fleet("t", workers, 7)
	var mu sync.Mutex
	merged := map[string]int{}
	together(mergers, func(i int) {
		r := f.tt("claude:boss", "worker", "merge", "--all", "--json")
		// what the gate refuses goes back
		if r.exit != 0 && (r.exit != 8 || !strings.Contains(r.err, `"tasks_returned"`)) {
			t.Errorf("merge: %d %s%s", r.exit, r.out, r.err)
			return
		}

		var res struct {
			Merged []struct {
				TaskID string `json:"task_id"`
			} `json:"merged"`
		}

		if err := json.Unmarshal([]byte(r.out), &res); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, m := range res.Merged {
			merged[m.TaskID]++
		}
	})

	for i := range workers {
		id, want := fmt.Sprintf("t%d", i), "COMPLETED"
		if i%7 == 6 {
			want = "WORKING"
		}
		if s := f.show(id); s.State != want {
			t.Errorf("%s is %+v", id, s)
		}
		if n := merged[id]; want == "COMPLETED" && n != 1 || want != "COMPLETED" && n != 0 {
			t.Errorf("%s was merged %d times", id, n)
		}
	}

	f.landed(f.git, start, workers-workers/7, log)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}

	for _, commit := range strings.Fields(string(b)) { // nobody was faster, so nothing was judged in vain
		if f.git("branch", "--contains", commit, "--list", "integration") == "" {
			t.Errorf("the gate was green on %s, which isn't on the branch", commit)
		}
	}
	f.tidy()
}

// fleet makes tasks that wait for their merge; every so many of them is bad.
func (f *farm) fleet(prefix string, n, bad int) {
	f.Helper()
	for i := range n {
		text := "good\n"
		if i%bad == bad-1 {
			text = "bad\n"
		}
		id := fmt.Sprintf("%s%d", prefix, i)
		f.committed(id, "f-"+id, text)
	}

	together(n, func(i int) {
		id := fmt.Sprintf("%s%d", prefix, i)
		if r := f.tt("codex:"+id, "worker", "done", "--task", id); r.exit != 0 {
			f.Errorf("done: %d %s%s", r.exit, r.out, r.err)
		}
	})

	for i := range n {
		id := fmt.Sprintf("%s%d", prefix, i)
		f.ok("claude:boss", "worker", "diff", id)
		f.ok("claude:boss", "worker", "approve", id)
	}
}

// landed looks at every commit that the branch was at: it is a merge of one task, and the gate was green on
// it.
func (f *farm) landed(git func(...string) string, start string, n int, log string) {
	f.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		f.Fatal(err)
	}
	judged := strings.Fields(string(b))

	var subjects []string
	for _, line := range strings.Split(git("log", "--first-parent", "--format=%H %s", start+"..integration"), "\n") {
		commit, subject, _ := strings.Cut(line, " ")
		if !slices.Contains(judged, commit) {
			f.Errorf("the gate never ran on %s", line)
		}
		if slices.Contains(subjects, subject) {
			f.Errorf("there are two of %s", subject)
		}
		subjects = append(subjects, subject)
		id, _, _ := strings.Cut(strings.TrimPrefix(subject, "Merge task "), ":")
		if files := git("ls-tree", "-r", "--name-only", commit); !slices.Contains(strings.Fields(files), "f-"+id) {
			f.Errorf("%s doesn't hold its work", line)
		}
	}

	if len(subjects) != n {
		f.Errorf("%d merges are on the branch, want %d: %q", len(subjects), n, subjects)
	}
}

// TestManyWorkersUpstream has the workers of two clones merge into one remote, whose branch is the only one
// that counts: each push is of a commit on which the gate was green, on top of what the other clone has
// pushed.
func TestManyWorkersUpstream(t *testing.T) {
	storetest.SkipQuick(t, "workers of two clones with one remote")
	each, mergers := 8, 4
	if testenv.Leaves(t, testenv.Every, "8 workers in each clone and 4 merges at once, where 2 and 2 are") {
		each, mergers = 2, 2
	}

	f := newFarm(t)
	log := filepath.Join(f.base, "judged")
	f.judged(log)
	f.git("branch", "integration")
	start := f.git("rev-parse", "integration")
	f.git("clone", "--quiet", "--bare", ".", "../up.git")

	var clones []*farm
	for _, name := range []string{"one", "two"} {
		dir := filepath.Join(f.base, name)
		f.git("clone", "--quiet", filepath.Join(f.base, "up.git"), dir)
		c := &farm{T: t, base: f.base, dir: dir, env: f.env}
		c.ok("claude:boss", "worker", "init")
		clones = append(clones, c)
	}

	together(2, func(i int) { clones[i].fleet("ab"[i:i+1], each, 100) })
	for round := 0; round < 20; round++ {
		together(mergers, func(i int) {
			if r := clones[i%2].tt("claude:boss", "worker", "merge", "--all"); r.exit != 0 {
				t.Errorf("merge: %d %s%s", r.exit, r.out, r.err)
			}
		})

		if !slices.ContainsFunc(clones, func(c *farm) bool {
			return strings.Contains(c.ok("claude:boss", "worker", "status").out, "APPROVED")
		}) {
			break
		}
	}

	up := func(args ...string) string { return f.git(append([]string{"--git-dir", "../up.git"}, args...)...) }
	f.landed(up, start, 2*each, log)
	if left := up("for-each-ref", "refs/heads/feat"); left != "" {
		t.Errorf("left at the remote are %s", left)
	}

	for _, c := range clones {
		c.tidy()
	}
}
