package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
)

// asWorker writes a script that starts a harness as the worker of the task in whose worktree it runs, with
// the prompt of that task. It returns the command for the shell.
func (s *stage) asWorker(a *realharness.Agent, o realharness.Options) string {
	s.t.Helper()
	const prompt = "THE PROMPT"
	o.Path = append(o.Path, filepath.Dir(s.tt))
	command, err := a.Command(context.Background(), prompt, o)
	if err != nil {
		s.t.Fatal(err)
	}

	var script strings.Builder
	for _, v := range command.Env {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&script, "export %s='%s'\n", name, value)
	}

	script.WriteString("prompt=$(tt task prompt) || exit 9\n")
	fmt.Fprintf(&script, "exec '%s'", command.Path)
	for _, arg := range command.Args[1:] {
		if arg == prompt {
			script.WriteString(` "$prompt"`)
			continue
		}
		fmt.Fprintf(&script, " '%s'", arg)
	}

	script.WriteString("\n")
	path := filepath.Join(s.place.Home, "work-"+a.Harness.Name+".sh")
	if err := os.WriteFile(path, []byte(script.String()), 0o700); err != nil {
		s.t.Fatal(err)
	}

	return "sh '" + path + "'"
}

// TestWorkerIsARealHarness has tt start a real Claude Code in the worktree of a task. It starts the task and
// commits. When it wants to stop before it has asked for a review, a hook keeps it going. Its work is
// approved and merged. The worker and the agent that spawned the task are two members.
func TestWorkerIsARealHarness(t *testing.T) {
	realharness.Require(t, realharness.Claude)

	s := newStage(t)
	session := s.api.Session("worker", modelapi.Steps(
		modelapi.Do(modelapi.Shell("tt task start")),
		modelapi.Do(modelapi.Shell("echo lexer > lexer && git add lexer && git commit -q -m lexer")),
		modelapi.Say("I am done"), // the hook doesn't let it stop
		modelapi.Do(modelapi.Shell(`tt task done --evidence "tests=grep lexer lexer"`)),
		modelapi.Say("it waits for review"),
	))

	claude := realharness.Claude.Prepare(t, s.place, realharness.Config{API: session.URL()})
	git := func(args ...string) string {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir, c.Env = s.place.Repo, []string{"HOME=" + s.place.Home, "PATH=/usr/bin:/bin"}
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}

		return string(out)
	}

	git("commit", "--quiet", "--allow-empty", "-m", "first")
	s.run("install", "claude")
	s.run("worker", "init")
	s.run("join")
	s.run("worker", "spawn", "lexer", "--description", "Write the lexer", "--run",
		s.asWorker(claude, realharness.Options{}))

	var task struct {
		State  string `json:"state"`
		Worker string `json:"worker"`
		Run    *struct {
			Exit   *int   `json:"exit"`
			Output string `json:"output"`
		} `json:"run"`
		Evidence []struct {
			Exit int `json:"exit"`
		} `json:"evidence"`
	}

	show := func() bool {
		if err := json.Unmarshal([]byte(s.run("worker", "show", "lexer", "--json")), &task); err != nil {
			t.Fatal(err)
		}
		return task.Run != nil && task.Run.Exit != nil
	}

	for deadline := time.Now().Add(2 * time.Minute); !show(); {
		if time.Now().After(deadline) {
			t.Fatalf("it doesn't end: %+v", task)
		}
		s.run("wait", "--park", "--timeout", "300ms") // until something happens
	}

	if *task.Run.Exit != 0 ||
		task.State != "IN_REVIEW" ||
		!strings.HasPrefix(task.Worker, "claude:") ||
		len(task.Evidence) != 1 ||
		task.Evidence[0].Exit != 0 {
		t.Fatalf("%+v\n%s", task, s.run("worker", "show", "--output", task.Run.Output))
	}
	requests := session.Requests()
	if text := requests[0].Text(); !strings.Contains(text, "You are the worker of task lexer") ||
		!strings.Contains(text, "Write the lexer") {
		t.Errorf("it was told %.300s", text)
	}
	if text := requests[0].Text(); !strings.Contains(text, "This is the worktree of task lexer") {
		t.Errorf("its session began with %.600s", text)
	}
	if text := requests[3].Text(); !strings.Contains(text, "Your task lexer is WORKING") {
		t.Errorf("when it wanted to stop it was told %.2000s", text)
	}

	s.run("worker", "diff", "lexer")
	s.run("worker", "approve", "lexer")
	s.run("worker", "merge", "lexer")
	if got := git("show", "integration:lexer"); got != "lexer\n" {
		t.Errorf("the branch has %q", got)
	}

	var room struct {
		Members []struct {
			AgentID string `json:"agent_id"`
		} `json:"members"`
	}

	if err := json.Unmarshal([]byte(s.run("state", "--all", "--json")), &room); err != nil {
		t.Fatal(err)
	}
	if len(room.Members) != 2 || room.Members[0].AgentID == room.Members[1].AgentID {
		t.Errorf("the members are %+v", room.Members)
	}
}
