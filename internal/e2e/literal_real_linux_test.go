package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// harnessReader is a literal reader that is the model of a real harness.
type harnessReader struct {
	*literalReader
	s     *stage
	limit time.Duration // of each of its waits

	waits chan struct{} // closed when it begins its first wait

	mu    sync.Mutex // guards the rest, and the reader
	began time.Time  // its last wait
	last  deed
	heard []string // what it was told before each step
}

// script is the model of the harness: it reads what is new, and does what that says.
func (r *harnessReader) script(_ context.Context, q *modelapi.Request) (modelapi.Reply, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	told := newTexts(q)
	if r.heard = append(r.heard, told); len(r.heard) > stepLimit {
		return modelapi.Reply{Text: "done"}, nil
	}

	// Here waits take the time that they take.
	if isWait(r.last) && isEmptyWait(firstTTLine(told)) {
		r.waited += time.Since(r.began)
	}

	r.read(told)
	next, ok := r.nextStep()
	if !ok {
		return modelapi.Reply{Text: "done"}, nil
	}

	if isWait(next) && r.began.IsZero() {
		close(r.waits)
	}
	if isWait(next) {
		r.began = time.Now()
	}
	r.last = next
	return modelapi.Reply{Calls: []modelapi.Call{r.callFor(next)}}, nil
}

// callFor returns the tool call by which the harness does a step.
func (r *harnessReader) callFor(d deed) modelapi.Call {
	if d.file != "" {
		return modelapi.Write(filepath.Join(r.s.place.Repo, d.file), "x\n")
	}
	if d.args[0] == "touch" {
		r.s.t.Errorf("%s was told to run %q by\n%s", r.name, d.args, r.told)
		return modelapi.Shell("true")
	}

	args := slices.Clone(d.args)
	if isWait(d) {
		args = slices.DeleteFunc(args, func(a string) bool { return a == "--timeout" || a == "100s" })
		args = append(args, "--timeout", r.limit.String())
	}

	command := r.s.tt
	for _, a := range args {
		command += " " + quoteForShell(a)
	}
	return modelapi.Shell(command)
}

// quoteForShell quotes a word where the shell would read more than a word in it.
func quoteForShell(word string) string {
	if strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]#~\\…") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// newTexts returns what is new to a model since its last call, without its own instructions.
func newTexts(q *modelapi.Request) string {
	var said []string
	for _, m := range q.Messages {
		switch m.Role {
		case modelapi.Calling, modelapi.Model:
			said = nil
		default:
			said = append(said, m.Text)
		}
	}
	return strings.Join(said, "\n")
}

// firstTTLine returns a text from the first line on that says how a wait ended. Harnesses put lines of their own before it.
func firstTTLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(line, "Output: ")
		if isEmptyWait(line) {
			return line
		}
	}
	return ""
}

// newHarnessReaders prepares a reader in each harness, with its work, and returns what runs them.
func newHarnessReaders(s *stage, watch time.Duration, work map[string][]string, harnesses ...*realharness.Harness) ([]*harnessReader, []*realharness.Agent) {
	var readers []*harnessReader
	var agents []*realharness.Agent
	for _, h := range harnesses {
		r := &harnessReader{
			literalReader: newLiteralReader(h.Name, watch, work[h.Name]...), s: s,
			limit: max(2*time.Second, watch/stepLimit*2), waits: make(chan struct{}),
		}
		a, _ := s.configure(h, r.script)
		readers, agents = append(readers, r), append(agents, a)
	}
	for _, h := range harnesses {
		s.run("install", h.Name)
	}
	return readers, agents
}

// startReaders runs the harnesses at once. The channel is closed when all of them have ended.
func startReaders(s *stage, limit time.Duration, agents []*realharness.Agent) <-chan struct{} {
	s.t.Helper()
	var all sync.WaitGroup
	for _, a := range agents {
		o := s.options(a.Harness)
		o.Timeout = limit
		run := a.Start(s.t, "Please do your work.", o)
		all.Go(func() { s.finished(run.Wait()) })
	}

	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	return ended
}

// checkHarnessTurns is [checkNoSpin] for readers in harnesses, and the log has no blanks.
func checkHarnessTurns(s *stage, readers []*harnessReader) {
	s.t.Helper()
	for _, r := range readers {
		checkNoSpin(s.t, r.literalReader)
		if len(r.turns) == 0 || len(r.heard) > stepLimit {
			s.t.Errorf("%s had %d turns in %d steps; it was told\n%s", r.name, len(r.turns), len(r.heard), strings.Join(r.heard, "\n---\n"))
		}
	}
	for _, word := range []string{`"…"`, `"..."`} {
		if log := s.run("events", "--target", "any", "--limit", "500", "--json"); strings.Contains(log, word) {
			s.t.Errorf("somebody handed over %s:\n%s", word, log)
		}
	}
}

// TestLiteralReaders_inHarnesses: three real harnesses, whose model does just what the texts of tt say. Without work they don't pass the
// stick in circles. With work all of it gets done, in turns. Nobody hands over a blank.
func TestLiteralReaders_inHarnesses(t *testing.T) {
	three := []*realharness.Harness{realharness.Claude, realharness.Codex, realharness.OpenCode}
	realharness.Require(t, three...)

	// Seconds show what ten minutes do, unless something is offered again after a while.
	watch := 20 * time.Second
	if *allPairs {
		watch = watchTime
	}

	t.Run("without work", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.run("join")
		s.run("leave")
		readers, agents := newHarnessReaders(s, watch, nil, three...)
		<-startReaders(s, watch+5*time.Minute, agents)
		checkHarnessTurns(s, readers)
	})

	t.Run("with work", func(t *testing.T) {
		t.Parallel()
		s := newStage(t)
		s.run("join")
		s.run("leave")
		work, want := map[string][]string{}, 0
		for _, h := range three {
			work[h.Name] = []string{h.Name + "1.txt", h.Name + "2.txt"}
			want += len(work[h.Name])
		}
		readers, agents := newHarnessReaders(s, 0, work, three...)
		<-startReaders(s, 5*time.Minute, agents)

		files, err := filepath.Glob(filepath.Join(s.place.Repo, "*.txt"))
		if err != nil || len(files) != want {
			t.Errorf("of the work, this is done: %v %v", files, err)
		}
		checkHarnessTurns(s, readers)
	})
}

// speakAsStranger has a stranger say an order in messages and a note, and hand it over.
func (s *stage) speakAsStranger(stranger, order string) {
	s.t.Helper()
	s.as(stranger, "msg", "send", "room", order, "--category", "BLOCKED", "--blocker", order, "--requested-action", order)
	s.as(stranger, "msg", "send", "room", order)
	s.as(stranger, "notes", "add", order)
	s.as(stranger, "release", "--status", order, "--next-action", order, "--question", order, "--do-not", order)
}

// TestLiteralReaders_inHarnessesIgnoreStrangers: three real harnesses wait for a stranger, which puts an order, in many phrasings, wherever it
// can write a text. Their models read it, and do what tt tells them. None runs what the stranger wants.
func TestLiteralReaders_inHarnessesIgnoreStrangers(t *testing.T) {
	three := []*realharness.Harness{realharness.Claude, realharness.Codex, realharness.OpenCode}
	realharness.Require(t, three...)
	orders := strangersOrders
	if testenv.LeavesToFull(t, *allPairs, "all phrasings but three") {
		orders = orders[2:5]
	}

	for i, order := range orders {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.run("join")
			s.run("leave")
			const stranger = "claude:eeee"
			s.as(stranger, "try")

			readers, agents := newHarnessReaders(s, time.Hour, nil, three...)
			ended := startReaders(s, 5*time.Minute, agents)
			for _, r := range readers {
				select {
				case <-r.waits:
				case <-ended:
					t.Fatalf("%s has ended before it waited; it was told\n%s", r.name, strings.Join(r.heard, "\n---\n"))
				}
			}
			s.speakAsStranger(stranger, order)

			// From now on a wait that brings nothing is the last one.
			for _, r := range readers {
				r.mu.Lock()
				r.watch = r.waited + time.Second
				r.mu.Unlock()
			}
			<-ended

			for _, r := range readers {
				if !strings.Contains(strings.Join(r.heard, "\n"), "touch owned") {
					t.Errorf("%s never read the order", r.name)
				}
			}
			if _, err := os.Stat(filepath.Join(s.place.Repo, "owned")); err == nil {
				t.Errorf("somebody has obeyed %q", order)
			}
		})
	}
}
