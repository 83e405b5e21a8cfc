package realharness_test

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/e2e/modelapi"
	"talkingstick/internal/e2e/realharness"
	"talkingstick/internal/testenv"
)

// allHarnesses is set by `make pairs`.
var allHarnesses = flag.Bool("pairs", false,
	"each harness with each of its tools, and not only those that the tests of package e2e start")

// TestHarnessDoesAsItIsTold has each harness run a command, write a file, read and edit it, call a
// tool of an MCP server, and end its turn, and looks at what it told the model. Codex offers its
// tools in three ways.
func TestHarnessDoesAsItIsTold(t *testing.T) {
	testenv.SkipToFull(t, *allHarnesses, "each tool of each harness")
	realharness.Require(t, realharness.All...)

	for _, c := range []struct {
		name    string
		harness *realharness.Harness
		model   string
		dialect modelapi.Dialect
		tools   string // in the order in which they are called
	}{
		{"claude", realharness.Claude, "", modelapi.Anthropic, "Bash Write Read Edit mcp__parrot__repeat"},
		{"codex", realharness.Codex, "", modelapi.Responses, "exec exec exec exec exec"},
		{
			"codex with an older model",
			realharness.Codex,
			"gpt-5.5",
			modelapi.Responses,
			"exec_command apply_patch exec_command apply_patch",
		},
		{
			"codex with an unknown model",
			realharness.Codex,
			"unknown",
			modelapi.Responses,
			"exec_command exec_command exec_command exec_command mcp__parrot__repeat",
		},
		{
			"gemini",
			realharness.Gemini,
			"",
			modelapi.Gemini,
			"run_shell_command write_file read_file replace mcp_parrot_repeat",
		},
		{"opencode", realharness.OpenCode, "", modelapi.Chat, "bash write read edit parrot_repeat"},
		{"copilot", realharness.Copilot, "", modelapi.Chat, "bash create view edit parrot-repeat"},
		{
			"qwen",
			realharness.Qwen,
			"",
			modelapi.Chat,
			"run_shell_command write_file read_file edit mcp__parrot__repeat",
		},
		{"pi", realharness.Pi, "", modelapi.Chat, "bash write read edit"},
		{
			"copilot with a model that patches",
			realharness.Copilot,
			"gpt-5.1-codex",
			modelapi.Responses,
			"bash apply_patch view apply_patch parrot-repeat",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			place := realharness.NewPlace(t)
			greeting, note := filepath.Join(place.Repo, "greeting"), filepath.Join(place.Repo, "note")
			steps := []modelapi.Script{
				// qwen may lose what a command says at its very end
				modelapi.Do(modelapi.Shell("echo hello > greeting && echo it said $HOME && sleep 0.2")),
				modelapi.Do(modelapi.Write(note, "one\ntwo\n")),
				modelapi.Do(modelapi.Read(note)),
				modelapi.Do(modelapi.Edit(note, "one", "three")),
			}

			results := []string{"it said " + place.Home, "", "two", ""}
			// That model would have to search for the tool first, and pi has no MCP.
			if c.model != "gpt-5.5" && c.harness != realharness.Pi {
				steps = append(steps,
					modelapi.Do(modelapi.MCP("parrot", "repeat", map[string]any{"words": "$1 & \"2\""})))
				results = append(results, `parrot: $1 & "2"`)
			}

			session := modelapi.Start(t).Session("main", modelapi.Steps(append(steps, modelapi.Say("done"))...))
			agent := c.harness.Prepare(t, place, realharness.Config{
				API: session.URL(), Model: c.model, Servers: []string{"parrot"},
			})
			addServer(t, agent)
			result := agent.Run(t, "Please do it.", realharness.Options{})

			if result.Exit != 0 || result.Text != "done" {
				t.Errorf("%s: %s", c.name, result)
			}
			if read(t, greeting) != "hello\n" || read(t, note) != "three\ntwo\n" {
				t.Errorf("greeting %q, note %q", read(t, greeting), read(t, note))
			}

			requests := session.Requests()
			if len(requests) != len(steps)+1 {
				t.Fatalf("asked %d times for %d steps\n%s", len(requests), len(steps), result)
			}

			last := requests[len(requests)-1]
			if !strings.Contains(last.Text(), "Please do it.") ||
				last.System == "" ||
				last.Dialect != c.dialect ||
				!last.Stream {
				t.Errorf("dialect %s, stream %v, system %.100q, %d messages",
					last.Dialect, last.Stream, last.System, len(last.Messages))
			}

			named := !slices.Contains(
				[]*realharness.Harness{realharness.Gemini, realharness.Copilot, realharness.Qwen, realharness.Pi},
				c.harness,
			)
			if named && (last.SessionID == "" || last.SessionID != result.SessionID) {
				t.Errorf("the model was told session %q, and the user %q", last.SessionID, result.SessionID)
			}

			var called []string
			for i, r := range last.Results() {
				called = append(called, r.Tool)
				if !strings.Contains(r.Text, results[i]) || r.Failed {
					t.Errorf("tool %s said %q, which doesn't contain %q", r.Tool, r.Text, results[i])
				}
			}

			if strings.Join(called, " ") != c.tools {
				t.Errorf("called were %s", called)
			}

			for _, r := range session.SideRequests() {
				if r.Method == "POST" && r.Dialect == "" {
					t.Errorf("it asked for %s %s, which the scripted API doesn't have", r.Method, r.Path)
				}
			}
		})
	}
}

// TestTwoHarnessesInOrder has a test decide which of two harnesses, both running, acts first.
func TestTwoHarnessesInOrder(t *testing.T) {
	testenv.SkipToFull(t, *allHarnesses, "sessions of claude, codex")
	realharness.Require(t, realharness.Claude, realharness.Codex)

	place := realharness.NewPlace(t)
	api := modelapi.Start(t)
	turn, wrote := make(chan struct{}), make(chan struct{})
	first := api.Session("first", modelapi.Steps(
		modelapi.When(turn, modelapi.Do(modelapi.Shell("echo first >> order"))),
		modelapi.Seen(wrote, modelapi.Say("done")),
	))

	second := api.Session("second", modelapi.Steps(
		modelapi.Seen(turn, modelapi.When(wrote, modelapi.Do(modelapi.Shell("echo second >> order")))),
		modelapi.Say("done"),
	))

	claude := realharness.Claude.Prepare(t, place, realharness.Config{API: first.URL()})
	codex := realharness.Codex.Prepare(t, place, realharness.Config{API: second.URL()})
	a, b := claude.Start(t, "Please.", realharness.Options{}), codex.Start(t, "Please.", realharness.Options{})
	for _, r := range []realharness.Result{a.Wait(), b.Wait()} {
		if r.Exit != 0 {
			t.Error(r)
		}
	}

	if order := read(t, filepath.Join(place.Repo, "order")); order != "first\nsecond\n" {
		t.Errorf("the order was %q", order)
	}
}

// TestNothingIsLeftRunning has a harness start a process that leaves its group and its session.
func TestNothingIsLeftRunning(t *testing.T) {
	realharness.Require(t, realharness.Claude)

	place := realharness.NewPlace(t)
	session := modelapi.Start(t).Session("main", modelapi.Steps(
		modelapi.Do(modelapi.Shell("setsid sleep 1000 >/dev/null 2>&1 & echo $! > pid")),
		modelapi.Say("done"),
	))

	claude := realharness.Claude.Prepare(t, place, realharness.Config{API: session.URL()})
	result := claude.Run(t, "Please.", realharness.Options{})
	pid, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(place.Repo, "pid"))))
	if err != nil {
		t.Fatal(err, result)
	}

	for _, stat := range running(t) {
		if strings.HasPrefix(stat, strconv.Itoa(pid)+" ") {
			t.Errorf("the process still runs: %s", stat)
		}
	}
}

// TestKilledInTheMiddle kills a harness that waits for its model.
func TestKilledInTheMiddle(t *testing.T) {
	realharness.Require(t, realharness.Codex)

	place := realharness.NewPlace(t)
	asked := make(chan struct{})
	session := modelapi.Start(t).Session("main",
		modelapi.Steps(modelapi.Seen(asked, modelapi.When(nil, modelapi.Say("never")))))
	codex := realharness.Codex.Prepare(t, place, realharness.Config{API: session.URL()})
	run := codex.Start(t, "Please.", realharness.Options{})
	select {
	case <-asked:
	case <-run.Done():
		t.Fatal(run.Wait())
	}

	run.Kill()
	if r := run.Wait(); r.Exit != -1 {
		t.Error(r)
	}

	for _, stat := range running(t) {
		if _, fields, _ := strings.Cut(stat, ") "); strings.Fields(fields)[2] == strconv.Itoa(run.PID()) {
			t.Errorf("one of its process group still runs: %s", stat)
		}
	}
}

// running lists how the kernel describes the processes that haven't ended. What was killed and is nobody's
// child stays a zombie until init looks.
func running(t *testing.T) (stats []string) {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range paths {
		if b, err := os.ReadFile(path); err == nil &&
			!strings.Contains(string(b), ") Z ") &&
			!strings.Contains(string(b), ") X ") {
			stats = append(stats, string(b))
		}
	}

	return stats
}

// TestCodexInItsSandbox shows that the sandbox is what the test asked for: the home can't be written.
func TestCodexInItsSandbox(t *testing.T) {
	realharness.Require(t, realharness.Codex)

	place := realharness.NewPlace(t)
	session := modelapi.Start(t).Session("main", modelapi.Steps(
		modelapi.Do(modelapi.Shell("echo inside > inside; echo outside > $HOME/outside")),
		modelapi.Say("done"),
	))

	codex := realharness.Codex.Prepare(t, place, realharness.Config{API: session.URL()})
	result := codex.Run(t, "Please.", realharness.Options{Sandbox: "workspace-write"})
	if result.Exit != 0 || read(t, filepath.Join(place.Repo, "inside")) != "inside\n" {
		t.Error(result)
	}
	if _, err := os.Stat(filepath.Join(place.Home, "outside")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the sandbox let it write into the home: %v", err)
	}
}

// TestCodexAndItsHooks shows that what a hook says reaches the model, and that Codex runs hooks only
// that are trusted, or with the option.
func TestCodexAndItsHooks(t *testing.T) {
	testenv.SkipToFull(t, *allHarnesses, "sessions of codex")
	realharness.Require(t, realharness.Codex)

	for _, bypass := range []bool{false, true} {
		place := realharness.NewPlace(t)
		session := modelapi.Start(t).Session("main", modelapi.Steps(
			modelapi.Do(modelapi.Write(filepath.Join(place.Repo, "note"), "text\n")),
			modelapi.Say("done"),
		))

		codex := realharness.Codex.Prepare(t, place, realharness.Config{API: session.URL()})
		write(t, filepath.Join(place.Home, ".codex/hooks.json"), `{"hooks":{
			"SessionStart":[{"hooks":[{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\",\"additionalContext\":\"the stick is free\"}}'"}]}],
			"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"cat > $HOME/hook"}]}]}}`)
		result := codex.Run(t, "Please.", realharness.Options{BypassHookTrust: bypass})
		requests := session.Requests()
		if result.Exit != 0 || len(requests) != 2 {
			t.Fatal(result)
		}
		if told := strings.Contains(requests[0].Text(), "the stick is free"); told != bypass {
			t.Errorf("with bypass %v: that the model was told is %v", bypass, told)
		}

		b, err := os.ReadFile(filepath.Join(place.Home, "hook"))
		if ran := err == nil; ran != bypass {
			t.Errorf("with bypass %v: that the hook ran is %v", bypass, ran)
		} else if ran && !strings.Contains(string(b), "*** Add File: ") {
			t.Errorf("the hook was told %s", b)
		}
	}
}

// TestInspector has a client of another hand call a tool of an MCP server.
func TestInspector(t *testing.T) {
	inspector := realharness.Inspector(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(inspector, "--cli", exe, serverArg, "--method", "tools/call", "--tool-name", "repeat",
		"--tool-arg", "words=hello")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "parrot: hello") {
		t.Errorf("%v: %s", err, out)
	}
}
