package e2e

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// losing is a repository in which two harnesses run. The worker has uncommitted work there, and the destroyer
// runs commands that would cost it.
type losing struct {
	*stage
	worker, destroyer dialogued
	remote            string // a bare repository
	sibling           string // a repository with a room of its own
	round             int
	known             string // what hooks had logged before the round
}

// dialogued is a harness whose model the test plays, and its name in the room.
type dialogued struct {
	*dialogue
	h  *realharness.Harness
	id string
}

// shell has the harness run a command in its shell, and returns what the model gets then.
func (d dialogued) shell(command string) string {
	d.t.Helper()
	return d.do(modelapi.Shell(command))
}

// losingPairs are the harnesses that destroy, each with the one whose work it is: with -pairs also the other
// way round.
func losingPairs() [][2]*realharness.Harness {
	pairs := [][2]*realharness.Harness{{realharness.Claude, realharness.Codex}}
	if *allPairs {
		pairs = append(pairs, [2]*realharness.Harness{realharness.Codex, realharness.Claude})
	}
	return pairs
}

// newLosing starts both harnesses. A policy is set in both rooms, and the hooks of git are there.
func newLosing(t *testing.T, destroyer, worker *realharness.Harness) *losing {
	t.Helper()
	l := &losing{stage: newStage(t)}
	beside := filepath.Dir(l.place.Repo)
	l.remote, l.sibling = filepath.Join(beside, "remote.git"), filepath.Join(beside, "sibling")
	for name, content := range map[string]string{
		"notes.txt": "notes\n", "src/lexer.go": "package src\n", "src/old.go": "package src // old\n",
	} {
		l.put(name, content)
	}
	l.git("add", ".")
	l.git("commit", "-q", "-m", "first")
	l.git("init", "-q", "--bare", l.remote)
	l.git("remote", "add", "origin", l.remote)
	l.git("push", "-q", "-u", "origin", "main")
	l.git("branch", "elsewhere", l.git("commit-tree", "main^{tree}", "-p", "main", "-m", "elsewhere"))
	l.git("tag", "base")
	l.git("clone", "-q", l.remote, l.sibling)
	l.run("join")
	l.run("join", "--path", l.sibling)
	l.run("install", "git", "--pre-push")
	l.run("worker", "init")

	for _, d := range []struct {
		at *dialogued
		h  *realharness.Harness
	}{{&l.destroyer, destroyer}, {&l.worker, worker}} {
		d.at.dialogue, d.at.h = newDialogue(t), d.h
		a, _ := l.prepare(d.h, d.at.script)
		o := l.options(d.h)
		o.Sandbox = "" // Codex's would keep it from committing
		d.at.begin(a, o)
		d.at.shell(l.tt + " join; cd " + l.sibling + " && " + l.tt + " join; cd " + l.place.Repo)
		ids := l.agents(d.h.Name)
		if len(ids) != 1 {
			t.Fatalf("the members of %s are %v", d.h.Name, ids)
		}
		d.at.id = ids[0]
	}

	return l
}

// policy sets what both rooms enforce.
func (l *losing) policy(enforce string) {
	l.t.Helper()
	l.run("policy", "set", "enforce="+enforce)
	l.run("policy", "set", "enforce="+enforce, "--path", l.sibling)
}

// give ends a harness's turn, if it has one, and gives the stick to one of the two.
func (l *losing) give(to dialogued) {
	l.t.Helper()
	for _, d := range []dialogued{l.destroyer, l.worker} {
		if d.id != to.id {
			d.shell(l.tt + ` release --status "so far" --next-action "go on"`)
		}
	}

	to.shell(l.tt + ` release --status "so far" --next-action "go on"; ` + l.tt + " try")
	if st := l.state(); st.Owner == nil || *st.Owner != to.id {
		l.t.Fatalf("%s should hold the stick, and the room is %+v", to.id, st)
	}
}

func (l *losing) put(name, content string) {
	l.t.Helper()
	path := filepath.Join(l.place.Repo, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// clean brings the repositories back to where they began, as a person does it.
func (l *losing) clean() {
	l.t.Helper()
	l.git("reset", "-q", "--hard")
	l.git("switch", "-q", "-C", "main", "base")
	l.git("clean", "-q", "-ffd")
	l.git("stash", "clear")
	l.git("push", "-q", "-f", "origin", "main")
	l.git("-C", l.sibling, "clean", "-q", "-ffd")
	l.round++
	l.known = l.faults()
}

// works has the worker leave uncommitted work: a file of its editor, a new one, a changed one, a removed one,
// and one that is staged and changed again.
func (l *losing) works() {
	l.t.Helper()
	l.worker.do(modelapi.Write(filepath.Join(l.place.Repo, "src", "parser.go"),
		fmt.Sprintf("package src // parser %d\n", l.round)))
	l.worker.shell(fmt.Sprintf("echo note %[1]d >>notes.txt; echo '// staged %[1]d' >>src/lexer.go; git add src/lexer.go; "+
		"echo '// later %[1]d' >>src/lexer.go; rm src/old.go; mkdir -p doc; echo guide %[1]d >doc/guide.md", l.round))
}

// seen is a working tree: the content of each file, and the index.
type seen map[string]string

func (l *losing) look() seen {
	l.t.Helper()
	all := seen{"the index": l.git("ls-files", "--stage")}
	err := filepath.WalkDir(l.place.Repo, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(l.place.Repo, path)
		if d.IsDir() {
			if name == ".git" || name == ".talking-stick" || name == "worktrees" {
				return fs.SkipDir
			}
			return nil
		}

		info, err := d.Info()
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		all[name] = fmt.Sprintf("%s %q", info.Mode(), b)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}

	return all
}

// same says how two looks differ.
func (before seen) same(after seen) string {
	if maps.Equal(before, after) {
		return ""
	}
	return cmp.Diff(before, after)
}

// person runs tt as a person does: with no name of an agent. Inside a harness it is that harness's.
func (l *losing) person(args ...string) string {
	l.t.Helper()
	c := l.command("", args...)
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { return strings.HasPrefix(v, "TT_HARNESS_AGENT_ID=") })
	out, err := c.CombinedOutput()
	if err != nil {
		l.t.Errorf("tt %s: %v\n%s", strings.Join(args, " "), err, out)
	}

	return string(out)
}

// spawn makes a task, and has one of the two start it.
func (l *losing) spawn(by dialogued) {
	l.t.Helper()
	task := l.task()
	l.run("worker", "spawn", task)
	said := by.shell("(cd worktrees/" + task + " && " + l.tt + " worker start)")
	if show := l.run("worker", "show", task, "--json"); !strings.Contains(show, by.id) {
		l.t.Fatalf("it doesn't work on the task:\n%s\n%s", said, show)
	}
}

// end ends both harnesses, and checks that the database is sound.
func (l *losing) end() {
	l.t.Helper()
	for _, d := range []dialogued{l.destroyer, l.worker} {
		d.shell(l.tt + ` release --status "so far" --next-action "go on"; cd ` + l.sibling + " && " + l.tt + ` release --status "so far" --next-action "go on"; cd ` + l.place.Repo)
	}
	l.destroyer.end()
	l.worker.end()
	if said := l.run("doctor"); !strings.Contains(said, "every room agrees with its log") {
		l.t.Errorf("the doctor says\n%s", said)
	}
}

var (
	rescued = regexp.MustCompile(`tt rescue show ([0-9a-z]+-[0-9a-f]+)`)
	// snapshotBefore finds the snapshot before the newest call.
	snapshotBefore = regexp.MustCompile(`"before": *"([0-9a-z]+-[0-9a-f]+)"`)
	keptAs         = regexp.MustCompile(`the old commit is kept as (refs/talkingstick/kept/\S+)`)
)
