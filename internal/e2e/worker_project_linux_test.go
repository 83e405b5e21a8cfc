package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// project is a project of tasks that wait for each other, worked on by harness programs, and led by the test.
type project struct {
	*stage
	red      []string // the tasks whose first work doesn't pass the gate
	comments []string // the tasks whose first work gets comments on its lines
	stops    string   // the task whose worker is stopped while its model thinks
	fails    string   // the task whose worker meets an error of the model's API, once

	judged  string          // the gate writes here on which commits it was green
	hold    string          // while this file is there, the gate stands still
	gating  string          // the gate has come so far
	stopped chan struct{}   // closed once the worker of "stops" may go on
	said    map[string]bool // the tasks that have got comments
	failed  atomic.Bool     // the API's error was met
}

// The tasks of the project: which tasks each waits for.
var projectTasks = []struct {
	id    string
	after string
}{
	{"t1", ""},
	{"t2", ""},
	{"t3", ""},
	{"t4", "t1,t2"},
	{"t5", "t2"},
	{"t6", "t3"},
	{"t7", "t4"},
	{"t8", "t5,t6"},
	{"t9", "t7"},
	{"t10", "t8,t9"},
}

var taskOfPrompt = regexp.MustCompile(`You are the worker of task (t\d+),`)

// model is the model of all harnesses. It knows nothing but its conversation, as a worker that starts again
// knows nothing but its prompt.
func (p *project) model(ctx context.Context, r *modelapi.Request) (modelapi.Reply, error) {
	m := taskOfPrompt.FindStringSubmatch(r.Text())
	if m == nil {
		return modelapi.Reply{}, errors.New("the prompt names no task")
	}

	id, text, since := m[1], "first", 0
	if id == p.fails && p.failed.CompareAndSwap(false, true) {
		return modelapi.Reply{Status: http.StatusBadRequest, Text: "the account has no credit"}, nil
	}

	if slices.Contains(p.red, id) {
		text = "bad"
	}
	var answers []string
	if n, told := saidIn(r, "The gate is red"); told {
		text, since = "mended", n
	} else if n, told := saidIn(r, "say it in more words"); told {
		text, since = "in more words", n
		answers = []string{
			p.tt + " worker comment " + id + " --resolve 1", p.tt + " worker comment " + id + " --resolve 2",
		}
	}

	write := fmt.Sprintf("printf '%%s\\n' '%s' second >f-%s", text, id)
	if text == "first" { // unless it was killed after it had answered the comments: nothing tells it of them again
		write = fmt.Sprintf("{ test -e f-%s || %s; }", id, write)
	}

	steps := slices.Concat([]string{
		p.tt + " worker start", // Codex's shell has a PATH of its own
		// Gemini CLI refuses a command with another one in $( ).
		fmt.Sprintf(
			"git rev-parse --git-path index.lock | xargs -I{} sh -c 'test ! -e {} || mv {} {}.old'; %s && git add f-%s && { git diff --cached --quiet || git commit -q -m '%s: %s'; }",
			write, id, id, text,
		),
	}, answers, []string{p.tt + " worker done"})

	n := len(r.Results()) - since
	if id == p.stops && n == 1 {
		select {
		case <-p.stopped:
		case <-ctx.Done():
			return modelapi.Reply{}, ctx.Err()
		}
	}

	if n >= len(steps) {
		return modelapi.Reply{Text: "it waits for review"}, nil
	}
	return modelapi.Reply{Calls: []modelapi.Call{modelapi.Shell(steps[n])}}, nil
}

// saidIn says whether a text stands in a conversation, and how many results came before it: a worker that is
// about to end when its task comes back is told then, and begins anew.
func saidIn(r *modelapi.Request, text string) (results int, said bool) {
	if strings.Contains(r.System, text) {
		return 0, true
	}

	for _, m := range r.Messages {
		if strings.Contains(m.Text, text) {
			return results, true
		}
		if m.Role == modelapi.Result {
			results++
		}
	}

	return 0, false
}

// states returns the state of each task.
func (p *project) states() map[string]string {
	p.t.Helper()
	var res struct {
		Tasks []struct {
			TaskID string `json:"task_id"`
			State  string `json:"state"`
			Later  bool   `json:"later"`
		} `json:"tasks"`
	}

	if err := json.Unmarshal([]byte(p.run("worker", "status", "--all", "--json")), &res); err != nil {
		p.t.Fatal(err)
	}
	out := map[string]string{}
	for _, t := range res.Tasks {
		out[t.TaskID] = t.State
	}
	return out
}

// lead reviews what waits for review and merges what is approved, until done says so. The first work of some
// tasks gets comments.
func (p *project) lead(what string, done func(states map[string]string) bool) {
	p.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; {
		states := p.states()
		if done(states) {
			return
		}

		if time.Now().After(deadline) {
			p.logOutputs(states)
			p.t.Fatalf("%s: it doesn't go on: %v\n%s", what, states, p.run("worker", "status"))
		}

		approved := false
		for id, state := range states {
			approved = approved || state == "APPROVED"
			if state != "IN_REVIEW" {
				continue
			}

			p.run("worker", "diff", id)
			if slices.Contains(p.comments, id) && !p.said[id] {
				p.said[id] = true
				p.run("worker", "comment", id, "f-"+id+":1", "say it in more words")
				p.run("worker", "comment", id, "f-"+id+":2", "this line, too")
				p.run("worker", "request-changes", id)
				continue
			}

			p.run("worker", "approve", id)
			approved = true
		}

		if !approved {
			p.run("wait", "--park", "--timeout", "300ms") // until something happens
			continue
		}

		out, err := p.command(watcher, "worker", "merge", "--all").CombinedOutput()
		// 8: a task went back
		if exit := (&exec.ExitError{}); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 8) {
			p.t.Fatalf("merge: %v\n%s", err, out)
		}
	}
}

// logOutputs logs what the workers of tasks that aren't done have printed.
func (p *project) logOutputs(states map[string]string) {
	p.t.Helper()
	for id, state := range states {
		if state == "WORKING" || state == "ASSIGNED" {
			out, _ := p.command(watcher, "worker", "logs", id).CombinedOutput()
			p.t.Logf("%s printed\n%s", id, out)
		}
	}
}

// landings counts the tasks that have landed.
func landings(states map[string]string) (n int) {
	for _, s := range states {
		if s == "COMPLETED" {
			n++
		}
	}
	return n
}

// TestAProjectOfTenTasks has two real harness programs work on ten tasks that wait for each other. The gate
// is red for two of them, two get comments on their lines, one is stopped and started again. In the middle,
// with a gate that runs, everything is killed. After one command it all goes on, and each task lands once.
func TestAProjectOfTenTasks(t *testing.T) {
	onlyInPairs(t, realharness.Claude, realharness.Codex)

	s := newStage(t)
	p := &project{
		stage: s, judged: filepath.Join(s.place.Home, "judged"), hold: filepath.Join(s.place.Home, "hold"),
		gating:  filepath.Join(s.place.Home, "gating"),
		stopped: make(chan struct{}), said: map[string]bool{},
		red: []string{"t2", "t7"}, comments: []string{"t4", "t5"}, stops: "t3",
	}

	t.Cleanup(s.place.KillAll)
	commands := make([]string, 2)
	for i, h := range []*realharness.Harness{realharness.Claude, realharness.Codex} {
		a, _ := s.prepare(h, p.model)
		o := s.options(h)
		o.Sandbox = "" // a worker commits into the repository that has its worktree
		commands[i] = s.asWorker(a, o)
	}

	gate := fmt.Sprintf(
		"if test -e '%s'; then touch '%s'; sleep 600; fi; ! grep -q bad f-* && git rev-parse HEAD >>'%s'",
		p.hold, p.gating, p.judged,
	)
	settings := fmt.Sprintf("[gate]\ncommand = %q\n\n[worker]\nmax_running = 3\n", gate)
	if err := os.WriteFile(filepath.Join(s.place.Repo, ".talking-stick.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	s.git("add", ".")
	s.git("commit", "-q", "-m", "first")
	s.run("worker", "init")
	s.run("join")
	start := s.git("rev-parse", "integration")

	for i, task := range projectTasks {
		args := []string{
			"worker", "spawn", task.id, "--description", "Write f-" + task.id, "--later", "--restart",
			"on-return:5", "--run", commands[i%2],
		}
		if task.after != "" {
			args = append(args, "--after", task.after)
		}
		s.run(args...)
	}

	// a worker is stopped while its model thinks, and started again
	p.lead("until the one to stop works", func(states map[string]string) bool {
		return states[p.stops] == "WORKING"
	})
	if out := s.run("worker", "stop", p.stops); !strings.Contains(out, "was stopped by") {
		t.Errorf("stop says\n%s", out)
	}
	if out := s.run("worker", "run", "--all"); strings.Contains(out, p.stops+" goes on") {
		t.Errorf("what was stopped starts again:\n%s", out)
	}

	close(p.stopped)
	s.run("worker", "run", p.stops)

	// everything is killed in the middle, while a gate runs and others work
	p.lead("until three have landed", func(states map[string]string) bool { return landings(states) >= 3 })
	if err := os.WriteFile(p.hold, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var merging *exec.Cmd
	p.lead("until a gate runs", func(states map[string]string) bool {
		for id, state := range states {
			if state == "IN_REVIEW" && (!slices.Contains(p.comments, id) || p.said[id]) {
				p.run("worker", "diff", id)
				p.run("worker", "approve", id)
				merging = s.command(watcher, "worker", "merge", "--all")
				if err := merging.Start(); err != nil {
					t.Fatal(err)
				}

				return true
			}
		}

		return false
	})

	soon(t, "the gate runs", func() bool { _, err := os.Stat(p.gating); return err == nil })
	s.place.KillAll()
	_ = merging.Wait() // it was killed
	if err := os.Remove(p.hold); err != nil {
		t.Fatal(err)
	}

	before := p.states()
	t.Logf("killed at %v", before)

	// one command, and it goes on
	t.Logf("%s", s.run("worker", "run", "--all"))
	p.lead("after the crash", func(states map[string]string) bool { return landings(states) == len(projectTasks) })
	(&farm{T: t}).landed(s.git, start, len(projectTasks), p.judged)

	for _, id := range p.red {
		if got := s.git("show", "integration:f-"+id); got != "mended\nsecond" {
			t.Errorf("%s has landed with %q", id, got)
		}
	}

	for _, id := range p.comments {
		if got := s.git("show", "integration:f-"+id); got != "in more words\nsecond" {
			t.Errorf("%s has landed with %q\n%s", id, got, s.run("worker", "logs", id))
		}
	}

	if out := s.run("worker", "run", "--all"); !strings.Contains(out, "no command is to be started again") {
		t.Errorf("afterwards there is something to start:\n%s", out)
	}
	if said := s.run("doctor"); !strings.Contains(said, "every room agrees with its log") {
		t.Errorf("the doctor says\n%s", said)
	}
}
