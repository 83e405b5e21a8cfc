//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// TestHintsWork runs each command of the hint of each refusal where the refusal was printed and as whoever
// got it. The command has to do what it says, or to wait. What a hint asks of hands before its command
// ("commit it, then: …"), the script has done by
//
//	byhand SHELL…               before the refusal that it is for
//
// A command may change what it likes: it gets the database as a copy, and the files are put back after it.
func TestHintsWork(t *testing.T) {
	testenv.Alone(t)

	r := playRefusals(t)
	testenv.Leaves(t, testenv.Every, fmt.Sprintf("the commands of %d of %d hints", r.hints-r.ran, r.hints))
	for _, w := range r.wrongHints {
		t.Error(w)
	}
	if r.hints < 100 {
		t.Errorf("only %d hints with a command were found: the search for them is broken", r.hints)
	}
}

// followHint runs the commands in the hint of the refusal that was provoked last.
func (r *refusals) followHint(s *story, ts *testscript.TestScript, args []string, find func(hint string) [][][]string) {
	q := s.parse(ts, false, args[1:])
	for _, steps := range find(s.hinted) {
		r.hints++
		who := fmt.Sprint(q.env, q.actor, s.byHand, s.normal(fmt.Sprint(steps)))
		isNew := !r.followed[who]
		r.followed[who] = true
		if testing.Short() && (!isNew || len(r.followed)%12 != 1) {
			continue
		}

		r.ran++
		if f := s.follow(ts, q, steps); f.isWrong {
			r.wrongHints = append(r.wrongHints, fmt.Sprintf("%s:\n\t%s", strings.Join(args, " "), s.normal(f.String())))
		}
	}
	s.byHand = ""
}

// commandFinder returns a function that finds the commands in a hint, in groups: what is joined by "then" or
// "and" is one group, whose commands run one after another; other commands are alternatives. To know where a
// command ends and plain words go on, it needs all commands that hints propose.
func commandFinder(proposed []string) func(hint string) [][][]string {
	const word = `(?:'[^']*'|"[^"]*"|<[^ >]*>|[^ ,;()"'<>]*[^ ,;:?()"'<>])`
	// Those that the source doesn't have as one literal.
	proposed = append(proposed, "git -C <path> -c core.editor=true rebase --continue",
		"tt task start --task <task>", "tt task done --task <task>",
		"tt msg send <who> --category BLOCKED --task <task> …", "tt task comment <task> --resolve <comment>")
	slices.SortFunc(proposed, func(a, b string) int { return len(strings.Fields(b)) - len(strings.Fields(a)) })
	patterns := []string{`tt(?: [a-z-]+)* --help`}

	blank := regexp.MustCompile(`<[^>]*>|…`)
	for _, p := range proposed {
		if first, _, _ := strings.Cut(p, " "); first != "tt" && first != "git" {
			continue
		}
		parts := blank.Split(p, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		patterns = append(patterns, strings.Join(parts, word))
	}

	command := regexp.MustCompile(`\b(?:` + strings.Join(patterns, "|") + `)(?: --as ` + word + `)?`)
	words := regexp.MustCompile(`'([^']*)'|"([^"]*)"|[^ ]+`)
	return func(hint string) (groups [][][]string) {
		end := 0
		for _, at := range command.FindAllStringIndex(hint, -1) {
			var argv []string
			for _, w := range words.FindAllString(hint[at[0]:at[1]], -1) {
				argv = append(argv, strings.Trim(w, `'"`))
			}
			between := hint[end:at[0]]
			if n := len(groups); n > 0 && regexp.MustCompile(`^,? (then|and) $`).MatchString(between) {
				groups[n-1] = append(groups[n-1], argv)
			} else {
				groups = append(groups, [][]string{argv})
			}
			end = at[1]
		}

		return groups
	}
}

// filled are the words for blanks that are for the reader to fill.
var filled = map[string]string{
	"…": "because it is time", "<path>": "src/new.go", "<agent>": "codex", "<task>": "new-task",
	"<new-branch>": "another-name", "<main>": "../moved", "<who>": "claude", "<comment>": "1",
}

// following is what came of commands that were printed as a next step.
type following struct {
	line    string   // the commands that ran
	last    *Command // the last of them, which ended the row if it went wrong
	isWrong bool
}

// String says how the last command ended.
func (f following) String() string {
	return fmt.Sprintf("%s: exit status %d: %s%s", f.line, f.last.status, f.last.out, f.last.err)
}

// timedOut is the exit status of timeout when it has ended what it ran.
const timedOut = 124

// follow runs the commands of a hint one after another, until one goes wrong.
func (s *story) follow(ts *testscript.TestScript, q request, steps [][]string) (f following) {
	if len(steps) == 1 && slices.Contains(steps[0], "--help") { // it changes nothing
		q.program, q.stdin = steps[0], ""
		c := s.launch(ts, q)
		s.finish(ts, c)
		return following{strings.Join(steps[0], " "), c, c.status != 0}
	}

	kept, err := s.copy()
	ts.Check(err)
	defer s.putBack(ts, kept)
	copied := []string{"TALKING_STICK_DATA_DIR=" + filepath.Join(kept, "data")}
	if s.address != "" {
		address, drop, err := storetest.CopySchema(s.address)
		ts.Check(err)
		defer func() { ts.Check(drop()) }()
		copied = append(copied, "TALKING_STICK_DATABASE_URL="+address)
	}

	q.env, q.stdin = append(copied, q.env...), ""
	if s.byHand != "" {
		hands := exec.Command("sh", "-ec", s.byHand)
		hands.Dir, hands.Env = ts.MkAbs("."), s.environment(ts, nil)
		if out, err := hands.CombinedOutput(); err != nil {
			ts.Fatalf("%s: %v\n%s", s.byHand, err, out)
		}
	}

	for _, step := range steps {
		if f.line != "" {
			f.line += ", then "
		}
		f.line += strings.Join(step, " ")
		q.program = slices.Clone(step)
		for i, w := range q.program {
			if v, ok := filled[w]; ok {
				q.program[i] = v
			}
		}

		forTask := slices.Contains(step, "--wait") // ends by itself only when a task is ready
		if len(step) > 1 && step[1] == "wait" || forTask {
			q.program = append(q.program, "--timeout", "20ms")
		}
		isFollowing := slices.Contains(step, "-f") // what it follows may never end
		if isFollowing {
			q.program = append([]string{"timeout", "2"}, q.program...)
		}
		f.last = s.launch(ts, q)
		s.finish(ts, f.last)
		// its status says what it found
		if f.last.status != 0 &&
			!(forTask && f.last.status == stick.ExitRefused) &&
			!(isFollowing && f.last.status == timedOut) &&
			!(step[0] == "tt" && step[1] == "doctor" && f.last.err == "") {
			f.isWrong = true
			break
		}
	}

	return f
}

// copy copies the files of the script to a new directory. If a worker's process takes one away meanwhile, it
// copies all of them anew.
func (s *story) copy() (kept string, err error) {
	for range 10 {
		if kept, err = os.MkdirTemp(s.bin, "kept-"); err != nil {
			return "", err
		}
		out, failed := exec.Command("cp", "-a", s.work+"/.", kept).CombinedOutput()
		if failed == nil {
			return kept, nil
		}

		err = fmt.Errorf("cp: %w: %s", failed, out)
		_ = os.RemoveAll(kept)
	}

	return "", err
}

// putBack makes the files of the script what they were. Directories that processes stand in stay the same
// directories. It takes the copy away, except for what a command that a hint has started writes there just
// then.
func (s *story) putBack(ts *testscript.TestScript, kept string) {
	all, err := os.ReadDir(s.work)
	ts.Check(err)
	for _, top := range all {
		if name := top.Name(); top.IsDir() && name != "data" && name != ".actors" {
			inside, err := os.ReadDir(filepath.Join(s.work, name))
			ts.Check(err)
			for _, e := range inside {
				ts.Check(os.RemoveAll(filepath.Join(s.work, name, e.Name())))
			}
			if _, err := os.Stat(filepath.Join(kept, name)); err == nil {
				ts.Check(exec.Command("cp", "-a", filepath.Join(kept, name)+"/.", filepath.Join(s.work, name)).Run())
			}
		}
	}
	_ = os.RemoveAll(kept)
}
