package cli_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/testenv"
)

// promised is a command of testdata/promise.txt.
type promised struct {
	kind, text string
	removes    bool              // the repository, or a root
	later      bool              // it ends after its call
	unread     bool              // its text doesn't say which checkouts it reaches beside that in which it runs
	needs      string            // a program
	known      map[string]string // why it doesn't hold, by policy and caller
}

// readPromised reads the table of commands.
func readPromised(t *testing.T) (all []promised) {
	t.Helper()
	b, err := os.ReadFile("testdata/promise.txt")
	if err != nil {
		t.Fatal(err)
	}
	kind := ""
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		last := len(all) - 1
		switch {
		case line == "", line[0] == '#':
		case word == "==":
			kind = rest
		case word == "$":
			all = append(all, promised{kind: kind, text: rest, known: map[string]string{}})
		case line[0] == '>':
			all[last].text += "\n" + strings.TrimPrefix(strings.TrimPrefix(line, ">"), " ")
		case word == "removes":
			all[last].removes = true
		case word == "unread":
			all[last].unread = true
		case word == "later":
			all[last].later = true
		case word == "needs":
			all[last].needs = rest

		case word == "known":
			when, why, ok := strings.Cut(rest, ": ")
			if !ok {
				t.Fatalf("%q says no reason", line)
			}
			all[last].known[when] = why

		default:
			t.Fatalf("testdata/promise.txt has %q", line)
		}
	}

	return all
}

// promisedCase is a command under a policy, by the holder of the stick or a bystander.
type promisedCase struct {
	promised
	number         int
	policy, caller string
	isSample       bool // the one of the command's six ways that is run without -promise.all
}

func (c promisedCase) String() string { return c.policy + ", " + c.caller + ": " + c.text }

// TestNothingIsLostWithoutACopy runs commands beside the uncommitted work of another agent and of a person.
// Each byte of that is afterwards where it was, or comes back by tt rescue restore; what has changed of it is
// told to both, and nothing else is.
func TestNothingIsLostWithoutACopy(t *testing.T) {
	testenv.Alone(t)
	skipOnServer(t)

	var cases []promisedCase
	for i, p := range readPromised(t) {
		if _, err := exec.LookPath(p.needs); p.needs != "" && err != nil {
			t.Logf("%s isn't there: %s isn't run", p.needs, p.text)
			continue
		}

		for j, policy := range []string{"warn", "stick", "scopes"} {
			for k, caller := range []string{"holder", "bystander"} {
				way := 2*j + k
				cases = append(cases, promisedCase{p, i + way, policy, caller, way == i/6%6})
			}
		}
	}

	// Each command is run in one of six ways, and of eight commands in a row seven are left out in a short run.
	if testenv.LeavesToFull(t, *promiseAll, "the other policies and callers of each of the commands beside others' work") {
		cases = slices.DeleteFunc(cases, func(c promisedCase) bool { return !c.isSample })
	}
	cases = testenv.Some(t, testenv.Every, "commands beside others' work", cases, testenv.EveryNth[promisedCase](8))

	const places = 3
	for n := range places { // each plays its part of the table, one case after the other
		t.Run(fmt.Sprintf("place %d", n+1), func(t *testing.T) {
			t.Parallel()
			w := newWard(t, "ann", "bob")
			w.build()

			for i := n; i < len(cases); i += places {
				c := cases[i]
				t.Run(c.kind, func(t *testing.T) {
					(&ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}).keeps(c)
				})
			}
		})
	}
}

// needed is a piece of uncommitted work.
type needed struct {
	path   string // relative to the work directory
	text   string
	staged bool // it is that in the index
}

// keeps plays a case.
func (w *ward) keeps(c promisedCase) {
	w.Helper()
	holder := map[string]string{"holder": "ann", "bystander": "bob"}[c.caller]
	w.putBack(w.variant(c.policy, holder))
	os.Remove(filepath.Join(w.dir, "io", "done"))

	// Somebody else goes on working, and no hook notes it.
	w.write(filepath.Join(w.app, "person.txt"), fmt.Sprintf("by a person %d\n", c.number), 0o644)
	w.write(filepath.Join(w.app, ".env"), fmt.Sprintf("SECRET=%d\n", c.number), 0o600)
	w.write(filepath.Join(w.app, "sub/mixed.txt"),
		fmt.Sprintf("by bob: app/sub/mixed.txt\nand by somebody %d\n", c.number), 0o644)
	if c.number%2 == 1 && !c.unread { // no earlier snapshot has anything
		w.empty(filepath.Join(w.work, "data", "rescue"))
	}
	before := w.held()
	needs := []needed{{"app/staged.txt", "staged by bob\n", true}}
	for _, path := range slices.Concat(noted, []string{"app/person.txt", "app/.env"}) {
		needs = append(needs, needed{path, before[path], false})
	}

	did := w.calls("ann", c.text)
	if c.later && did.denied == "" {
		w.waitForFile(filepath.Join(w.dir, "io", "done"))
	}
	after, index := w.held(), w.staged()

	var wrong []string
	wrong = append(wrong, c.wronglyDenied(did)...)
	if !c.later {
		wrong = append(wrong, w.wronglyTold(c, did, before, after)...)
	}
	wrong = append(wrong, w.lost(needs, after, index)...)
	c.judge(w, did, wrong)
}

// judge compares what is wrong with what is known to be.
func (c promisedCase) judge(w *ward, did call, wrong []string) {
	w.Helper()
	if faults, err := os.ReadFile(filepath.Join(w.work, "data", "tt.log")); err == nil {
		wrong = append(wrong, "tt.log: "+string(faults))
	}
	why, known := c.known[c.policy+" "+c.caller]
	if !known {
		why, known = c.known["always"]
	}

	switch {
	case known && len(wrong) == 0:
		w.Errorf("%s\nholds, and is said not to: %s", c, why)
	case !known && len(wrong) > 0:
		w.Errorf("%s\n  %s\nstatus %d, denied %q, printed %q, said %q",
			c, strings.Join(wrong, "\n  "), did.status, did.denied, did.printed, did.after)
	}
}

// wronglyDenied says what is wrong with a denial, or with none.
func (c promisedCase) wronglyDenied(did call) []string {
	switch {
	case c.removes && !c.unread && did.denied == "":
		return []string{"it isn't denied, though it removes the repository"}
	case !c.removes && c.policy == "warn" && did.denied != "":
		return []string{"it is denied where the room only warns"}
	}

	return nil
}

// others reports whether a path has uncommitted work of others of which is told.
func others(path string) bool { return slices.Contains(noted, path) || path == "app/person.txt" }

// wronglyTold says what is told and didn't happen, and what happened and isn't told.
func (w *ward) wronglyTold(c promisedCase, did call, before, after map[string]string) (wrong []string) {
	w.Helper()
	changed := map[string]bool{}
	for path, text := range before {
		if now, there := after[path]; others(path) && (!there || now != text) {
			changed[path] = true
		}
	}

	told, count := map[string]bool{}, 0
	var ids, theirs []string
	for _, e := range w.takings() {
		for _, p := range e.Payload.Paths {
			if p == ".env" {
				count-- // it may be told that it is gone
			} else {
				told[p] = true
			}
		}

		count += e.Payload.Count
		ids = append(ids, e.Payload.Rescue)
		if len(e.Payload.Of) > 0 {
			theirs = append(theirs, e.Payload.Rescue)
		}
	}

	for p := range told {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(changed)), func(c string) bool {
			return strings.HasSuffix(c, "/"+p)
		}) {
			wrong = append(wrong, "told of "+p+", which is as it was")
		}
	}

	if !c.unread && (count < len(changed) || len(told) < min(len(changed), 3)) {
		wrong = append(wrong,
			fmt.Sprintf("%d files of others have changed (%s), and %d are told (%s)",
				len(changed), names(changed), count, names(told)))
	}

	for _, id := range ids {
		if !strings.Contains(did.after, id) {
			wrong = append(wrong, "the caller doesn't hear of "+id)
		}
	}

	if len(theirs) == 0 {
		return wrong
	}

	heard := w.hears("bob")
	for _, id := range theirs {
		if !strings.Contains(heard, id) {
			wrong = append(wrong, "the other doesn't hear of "+id+", but: "+heard)
		}
	}

	return wrong
}

func names(set map[string]bool) string { return strings.Join(slices.Sorted(maps.Keys(set)), " ") }

// lost names the work that is neither in the tree nor comes back by tt rescue restore, into the checkouts as
// they were committed.
func (w *ward) lost(needs []needed, after map[string]string, index string) (wrong []string) {
	w.Helper()
	needs = missing(needs, after, index)
	if len(needs) == 0 {
		return nil
	}

	s := rescue.New(filepath.Join(w.work, "data"), git.Client{})
	list, err := s.List(context.Background(), "", 0, rescue.Every)
	if err != nil {
		return []string{err.Error()}
	}
	for _, id := range list.Damaged {
		wrong = append(wrong, "the snapshot "+id+" is damaged")
	}
	w.putBack("clean", "app", "wts", "lib", "origin.git")

	for _, m := range list.Rescues {
		if len(needs) == 0 {
			return wrong
		}
		if !w.mayHave(s, m, needs) {
			continue
		}

		w.putBack("clean", "app", "wts", "lib", "origin.git")
		if out, err := w.personal("tt rescue restore " + m.ID); err != nil &&
			!strings.Contains(err.Error(), "exit status 8") {
			wrong = append(wrong, fmt.Sprintf("tt rescue restore %s: %v: %s", m.ID, err, out))
		}
		needs = missing(needs, w.held(), w.staged())
	}

	for _, n := range needs {
		wrong = append(wrong, fmt.Sprintf("lost: %s (staged: %t)", n.path, n.staged))
	}
	return wrong
}

// mayHave reports whether a snapshot has a path that is missing.
func (w *ward) mayHave(s *rescue.Store, m rescue.Manifest, needs []needed) bool {
	w.Helper()
	r, err := s.Show(context.Background(), m.ID)
	if err != nil {
		w.Fatal(err)
	}

	return slices.ContainsFunc(needs, func(n needed) bool {
		rel, err := filepath.Rel(m.Top, filepath.Join(w.work, n.path))
		return err == nil && slices.ContainsFunc(r.Entries, func(f rescue.File) bool { return f.Path == rel })
	})
}

// missing returns those needs that no file has. What is staged may be in the index, in a commit, or in a
// file.
func missing(needs []needed, held map[string]string, index string) []needed {
	texts := map[string]bool{}
	for _, text := range held {
		texts[text] = true
	}
	return slices.DeleteFunc(slices.Clone(needs), func(n needed) bool {
		return texts[n.text] || n.staged && strings.Contains(index, blobName(n.text))
	})
}

func (w *ward) waitForFile(path string) {
	w.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(until) {
			w.Fatalf("%s doesn't come", path)
		}
	}
}
