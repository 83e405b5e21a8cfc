package cli_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/rescue"
	"talkingstick/internal/testenv"
	"talkingstick/internal/workspace"
)

var (
	promisePrograms = flag.Int("promise.programs", 40,
		"how many random programs run beside each other's uncommitted work; ci-full plays 1000")
	promiseAll = flag.Bool("promise.all",
		false,
		"run each command beside others' work under each policy, as the holder and as a bystander; ci-full does")
	promiseSeed = flag.Uint64("promise.seed", 1, "seed of the first of them")
)

// shortPrograms are played by `make test`.
const shortPrograms = 2

// manyPrograms are played by `make ci-full`.
const manyPrograms = 1000

// TestNothingIsLostByPrograms plays random programs: three agents at once write, move and remove files by tools and commands, and a person
// writes in between. Then one undoes a long call, in the middle of which another has made one. What was there as a hook before a call ran, and what
// a hook after a call found, is in the tree or in a snapshot at the end.
func TestNothingIsLostByPrograms(t *testing.T) {
	testenv.Alone(t)
	skipOnServer(t)

	count := *promisePrograms
	testenv.LeavesToFull(t, count >= manyPrograms,
		fmt.Sprintf("%d random programs of three agents", manyPrograms-count))
	if count > shortPrograms &&
		testenv.Leaves(t, testenv.Every,
			fmt.Sprintf("%d of %d random programs of three agents", count-shortPrograms, count)) {
		count = shortPrograms
	}

	const places = 2
	for n := range places {
		t.Run(fmt.Sprintf("place %d", n+1), func(t *testing.T) {
			t.Parallel()
			w := newWard(t, "ann", "bob", "cy")
			w.buildForPrograms()

			for i := n; i < count; i += places {
				seed := *promiseSeed + uint64(i)
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
					(&ward{t, w.dir, w.work, w.app, w.bin, w.agents, w.copies, w.roomID}).playProgram(seed)
				})
			}
		})
	}
}

// buildForPrograms makes a small repository, and has three agents join its room.
func (w *ward) buildForPrograms() {
	w.Helper()
	for name, text := range map[string]string{
		"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", "d/e/f.txt": "f\n", ".gitignore": ".env\n",
		"wipe.sh": "rm -rf d\n",
	} {
		w.write(filepath.Join(w.app, name), text, 0o644)
	}
	w.person(
		"git init -q --initial-branch=main && git config gc.auto 0 && git add . && git commit -qm first && tt join",
	)
	w.keepAs("clean")

	for _, name := range []string{"ann", "bob", "cy"} {
		if out, status := w.as(name, `cd "$WORK/app" && tt join`); status != 0 {
			w.Fatal(out)
		}
	}

	if out, status := w.as("ann", `cd "$WORK/app" && tt try`); status != 0 {
		w.Fatal(out)
	}
	w.keepAs("programs")
}

// program is one that is being played.
type program struct {
	*ward
	random *rand.Rand

	mu    sync.Mutex        // guards the rest
	seen  map[string]string // what has to be kept, and where that was seen first
	lines []string          // what was done
}

// step is one call of an agent.
type step struct {
	agent, command string
	path, text     string // what an edit tool writes instead
}

// playProgram plays one program: some rounds, in each of which all agents act at the same time.
func (w *ward) playProgram(seed uint64) {
	w.Helper()
	w.putBack("programs")
	p := &program{ward: w, random: rand.New(rand.NewPCG(seed, 1)), seen: map[string]string{}}

	const rounds = 4
	for round := range rounds {
		var wait sync.WaitGroup
		for _, agent := range []string{"ann", "bob", "cy"} {
			s := p.chooseStep(agent, fmt.Sprintf("%d.%d by %s", seed, round, agent))
			wait.Go(func() { p.take(s) })
		}

		if p.random.IntN(2) == 0 {
			w.write(filepath.Join(w.app, p.choose("p.txt", "a.txt", ".env")),
				fmt.Sprintf("%d.%d by a person\n", seed, round), 0o644)
		}
		wait.Wait()
	}

	p.undoLongCall(fmt.Sprintf("%d.%d", seed, rounds))

	if lost := p.lost(); len(lost) > 0 {
		w.Errorf("-promise.seed=%d: lost:\n  %s\nafter:\n  %s",
			seed, strings.Join(lost, "\n  "), strings.Join(p.lines, "\n  "))
	}
	if faults, err := os.ReadFile(filepath.Join(w.work, "data", "tt.log")); err == nil {
		w.Errorf("-promise.seed=%d: tt.log: %s", seed, faults)
	}
}

func (p *program) choose(of ...string) string { return of[p.random.IntN(len(of))] }

// chooseStep makes up what an agent does next. text is in what it writes, and in nothing else.
func (p *program) chooseStep(agent, text string) step {
	f, g := p.chooseFiles()
	if p.random.IntN(3) == 0 {
		return step{agent: agent, path: f, text: text + "\n"}
	}

	command := p.chooseCommand(f, g, text)
	switch p.random.IntN(4) {
	case 0: // a long one, during which others write
		command = fmt.Sprintf("sleep 0.0%d; %s; sleep 0.0%d", 1+p.random.IntN(9), command, 1+p.random.IntN(9))
	case 1:
		command = "(" + command + ") & wait"
	}

	return step{agent: agent, command: command}
}

// chooseCommand makes up a command about two files.
func (p *program) chooseCommand(f, g, text string) string {
	return p.choose(
		fmt.Sprintf("mkdir -p d/e; echo '%s' >%s", text, f), fmt.Sprintf("mkdir -p d; echo '%s' >>%s",
			text, f), fmt.Sprintf("mkdir -p x/z; echo '%s' >x/z/w.txt", text),
		"rm -f "+f, "rm -rf d", "mkdir -p x; mv "+f+" "+g, "cp a.txt "+f, "sed -i 's/by/of/' "+f, "sh wipe.sh",
		"python3 -c 'import shutil; shutil.rmtree(\"d\")'", fmt.Sprintf(
			"python3 -c 'open(\"a.txt\",\"w\").write(\"%s\")'", text,
		),
		"git checkout -q -- .", "git checkout -q "+f, "git stash -q -u", "git stash -q && git stash drop -q", "git clean -fdq", "git clean -fdxq", "git reset -q --hard",
		"git add -A", "git add -A && git rm -qrf d", "find . -name '*.txt' -not -path './.git/*' -newer .gitignore -delete", "truncate -s 0 "+f, "perl -pi -e 's/by/of/' "+f,
	)
}

// chooseFiles chooses the file that a step is about, and one for which it may go.
func (p *program) chooseFiles() (f, g string) {
	return p.choose("a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "new.txt", "d/new.txt"), p.choose("a.txt",
		"moved.txt", "d/e/f.txt", "x/y.txt")
}

// take plays one call, and notes what has to be kept of what lies in the tree around its hooks.
func (p *program) take(s step) {
	if p.begin(s) {
		p.act(s)
		p.around(s, "after")
	}
}

// begin plays the hook before a call. It reports false if that denies the call.
func (p *program) begin(s step) bool {
	input, tool := map[string]any{"command": s.command}, "Bash"
	if s.path != "" {
		input, tool = map[string]any{
			"file_path": filepath.Join(p.app, s.path), "old_string": "a", "new_string": s.text,
		}, "Edit"
	}
	p.say("%s: %s%s", s.agent, s.command, s.path)
	for event, file := range map[string]string{"PreToolUse": ".before.json", "PostToolUse": ".after.json"} {
		p.give(s.agent+file, hook{
			Session: p.agents[s.agent].session, Dir: p.app, Name: event, Tool: tool, Input: input,
			Call: "toolu",
		})
	}

	said := p.around(s, "before")
	if isDenial(said) {
		p.say("%s: denied: %s", s.agent, said)
		return false
	}

	return true
}

// isDenial reports whether a hook denies a call.
func isDenial(said string) bool { return strings.Contains(said, `"permissionDecision":"deny"`) }

// act does what a call does between its hooks.
func (p *program) act(s step) {
	if s.path != "" {
		path := filepath.Join(p.app, s.path)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(s.text), 0o644)
		}
		if err != nil { // another has just removed the directory
			p.say("%s: %v", s.agent, err)
		}
	} else if out, status := p.as(s.agent, `cd "$WORK/app" || exit 9; `+s.command); status != 0 {
		p.say("%s: status %d: %s", s.agent, status, out)
	}
}

// around runs a hook. What is the same before it and after it was there as it ran.
// Of a call that it denies, a hook need not keep anything.
func (p *program) around(s step, when string) string {
	named := func(path string) bool { return s.path == "" || path == "app/"+s.path }
	was, written := p.held(), p.writtenTimes()
	out, _ := p.as(s.agent, `cd "$WORK/app" && tt hook <"$IO/`+s.agent+"."+when+`.json"`)
	stillWritten, is := p.writtenTimes(), p.held()

	if isDenial(out) {
		return out
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	for path, text := range was {
		// An empty file that is removed meanwhile isn't one that stays empty. Nor is one that somebody was about to write,
		// and that another has emptied.
		now, isThere := is[path]
		if written[path] != stillWritten[path] {
			continue
		}
		if _, known := p.seen[text]; !known && isThere && now == text && named(path) {
			p.seen[text] = fmt.Sprintf("%s, when the hook %s a call of %s ran (%s%s)",
				path, when, s.agent, s.command, s.path)
		}
	}

	return out
}

// writtenTimes says when the files of the work directory were written last, by path.
func (p *program) writtenTimes() map[string]time.Time {
	all := map[string]time.Time{}
	for path := range p.held() {
		if info, err := os.Lstat(filepath.Join(p.work, path)); err == nil {
			all[path] = info.ModTime()
		}
	}
	return all
}

func (p *program) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// lost says what was there and is in no snapshot and nowhere in the tree.
func (p *program) lost() (lost []string) {
	p.Helper()
	drop := func(held map[string]string) {
		for _, text := range held {
			delete(p.seen, text)
		}
	}

	drop(p.held())
	drop(p.committed())

	s := rescue.New(filepath.Join(p.work, "data"), git.Client{})
	list, err := s.List(context.Background(), "", 0, rescue.Every)
	if err != nil {
		p.Fatal(err)
	}

	for _, m := range list.Rescues {
		if len(p.seen) == 0 {
			break
		}
		drop(p.restored(s, m.ID))
	}

	for text, where := range p.seen {
		lost = append(lost, fmt.Sprintf("%q: %s", text, where))
	}
	slices.Sort(lost)
	return lost
}

// committed are the files of the only commit.
func (p *program) committed() map[string]string {
	all := map[string]string{}
	for _, name := range strings.Fields(p.person("git ls-tree -r --name-only HEAD")) {
		all[name] = p.person("git show HEAD:" + name)
	}
	return all
}

// restored are the files that come back from a snapshot into an empty directory.
func (p *program) restored(s *rescue.Store, id string) map[string]string {
	p.Helper()
	dir := filepath.Join(p.dir, "restored")
	p.empty(dir)
	if err := os.Mkdir(dir, 0o755); err != nil {
		p.Fatal(err)
	}

	res, err := s.Restore(context.Background(), rescue.RestoreRequest{ID: id, Tree: workspace.Checkout{Top: dir}})
	if err != nil {
		p.Fatalf("%s: %v", id, err)
	}

	all := map[string]string{}
	for _, path := range res.Restored {
		if b, err := os.ReadFile(filepath.Join(dir, path)); err == nil {
			all[path] = string(b)
		}
	}

	return all
}
