//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"talkingstick/internal/cli"
	"talkingstick/internal/storetest"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

// nextSteps are the next steps that the answers of testdata/nextsteps.txtar print, and what came of each.
type nextSteps struct {
	find  func(text string) [][][]string
	rows  []string
	wrong []string

	known map[string]bool // steps that were run, by who got them
	found int
	ran   int
}

// unplayable are the next steps that need what the script doesn't have: a terminal, or, where agents of other hosts share
// a server, a remote.
var unplayable = []string{"tt watch", "git push"}

// TestNextStepsWork plays testdata/nextsteps.txtar, in which
//
//	prints … tt ARG…
//
// is a command that isn't refused. Each command that its answer prints as a next step is run as whoever got it, on a copy
// of the database. testdata/nextsteps.golden says which command printed it and what came of it.
// Hints of refusals are run by [TestHintsWork].
func TestNextStepsWork(t *testing.T) {
	testenv.Alone(t)

	n := &nextSteps{find: commandFinder(cli.HintedCommands(t)), known: map[string]bool{}}
	isPlayed := t.Run("play", func(t *testing.T) {
		play(t, testscript.Params{Files: []string{"testdata/nextsteps.txtar"}}, map[string]func(*story, *testscript.TestScript, []string){
			"byhand": func(s *story, _ *testscript.TestScript, args []string) { s.byHand = strings.Join(args, " ") },
			"prints": n.follow,
		})
	})
	if !isPlayed {
		return
	}

	testenv.Leaves(t, testenv.Every, fmt.Sprintf("%d of %d printed next steps", n.found-n.ran, n.found))
	for _, w := range n.wrong {
		t.Error(w)
	}
	if n.found < 60 {
		t.Errorf("only %d next steps were found: the search for them is broken", n.found)
	}
	n.compare(t)
}

// follow runs a command, and then each next step in its answer that nobody has run there before.
func (n *nextSteps) follow(s *story, ts *testscript.TestScript, args []string) {
	q := s.parse(ts, false, args)
	c := s.launch(ts, q)
	s.finish(ts, c)
	if c.status != q.want {
		n.wrong = append(n.wrong, fmt.Sprintf("%s: exit status %d: %s", strings.Join(args, " "), c.status, c.err))
	}

	for line := range strings.Lines(c.out + c.err) {
		n.followLine(s, ts, q, args, line)
	}
	s.byHand = ""
}

// followLine runs the next steps in a line of an answer. What only a person may run, a person runs.
func (n *nextSteps) followLine(s *story, ts *testscript.TestScript, q request, args []string, line string) {
	if strings.Contains(line, "ask a person to run") || strings.Contains(line, "a person who has read it") {
		q.actor, q.env = "", nil
	}

	// Hooks answer in JSON, and name the command that an agent has run.
	line = whatRan.ReplaceAllString(strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\"`, `"`), "")
	for _, steps := range n.find(line) {
		who := fmt.Sprint(q.env, q.actor, s.byHand, s.normal(fmt.Sprint(steps)))
		if n.known[who] {
			continue
		}

		n.known[who] = true
		n.found++
		if testing.Short() && n.found%12 != 1 {
			continue
		}
		n.ran++
		n.note(s, args, s.follow(ts, q, steps))
	}
}

// whatRan matches the command that a tool call has run.
var whatRan = regexp.MustCompile(`ran "[^"]*"|"Bash [^"]*"`)

// What differs from one playing of the script to the next: ids and times in commands, and every number in answers.
var (
	varyingID     = regexp.MustCompile(`\b[0-9a-z]{9}-[0-9a-f]{4}\b|\b[0-9a-f]{7,}\b|\b[0-9]+-[0-9]+-[0-9]+T[0-9:.-]+Z`)
	varyingNumber = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)
)

// note writes the row of a next step.
func (n *nextSteps) note(s *story, args []string, f following) {
	printed := strings.Join(args, " ")
	said, _, _ := strings.Cut(strings.TrimSpace(f.last.out+f.last.err), "\n")
	said = strings.Join(strings.Fields(said), " ") // columns are as wide as the times in them
	said = varyingNumber.ReplaceAllString(varyingID.ReplaceAllString(s.normal(said), "1a2b"), "1")
	step := varyingID.ReplaceAllString(s.normal(printed+" -> "+f.line), "1a2b")
	n.rows = append(n.rows, fmt.Sprintf("%s\n    exit %d: %s\n", step, f.last.status, said))

	// A command that removes much says what it would do, and asks.
	asks := f.last.status == stick.ExitUsage && strings.Contains(f.last.out, "nothing was changed")
	if f.isWrong && !asks && !slices.Contains(unplayable, f.line) {
		n.wrong = append(n.wrong, printed+":\n\t"+s.normal(f.String()))
	}
}

// compare compares the rows with the golden file. A server's programs do some things otherwise, and a short run has fewer
// rows.
func (n *nextSteps) compare(t *testing.T) {
	t.Helper()
	if storetest.OnServer(t) || t.Failed() {
		return
	}

	const golden = "testdata/nextsteps.golden"
	text := "What came of each next step that an answer printed: the command that printed it -> the step, its exit status, and the first line that it said.\n" +
		"TestNextStepsWork makes this file from testdata/nextsteps.txtar.\n\n" + strings.Join(n.rows, "")
	if *updateGolden && !testing.Short() {
		if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		if d := compareTexts(string(want), text); d != "" {
			t.Errorf("%s is out of date; go test ./internal/cli -run NextSteps -update, and read it:\n%s", golden, d)
		}
		return
	}

	lines := strings.SplitAfter(string(want), "\n")
	for _, row := range n.rows {
		if step, _, _ := strings.Cut(row, "\n"); !slices.Contains(lines, step+"\n") {
			t.Errorf("%s doesn't have: %s", golden, step)
		}
	}
}
