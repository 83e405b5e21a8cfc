//go:build linux

package realharness

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Harness is one of the real programs.
type Harness struct {
	Name string // as in its agents' ids

	program string                      // the name by which npm installs it
	known   string                      // the model that it asks for by default
	config  func(*Agent) map[string]any // files below the home: text, or what becomes JSON
	args    func(a *Agent, prompt string, o Options) []string
	tui     func(a *Agent, o Options) []string // with a person at it
	ready   string                             // what its terminal shows then, where a prompt can be typed
	env     func(*Agent) []string
	answer  func(out []byte, r *Result)
}

// All are the harnesses, each at the version that .ci/npm installs.
var All = []*Harness{Claude, Codex, Gemini, OpenCode}

// Place is where harnesses work. Several may share one, as a person's do.
type Place struct {
	Home string
	Repo string // where they are started
}

// Temp is the directory for temporary files of what runs there.
func (p Place) Temp() string { return filepath.Join(p.Home, "tmp") }

// Config is what a harness is told of its model, and what it may do.
type Config struct {
	// API is the base of the model API, as modelapi.Session tells it. It may be another one in the
	// next run, without preparing anything again.
	API string

	// Model is the model that it asks for, by default one that it knows. Codex offers other tools
	// to other models: to those of today a single one that takes code, to one that it doesn't know
	// plain ones.
	Model string

	// Servers are the MCP servers whose tools may be called without asking. Claude Code refuses
	// the others when nobody is there to be asked; the other harnesses don't need it.
	Servers []string
}

// Agent is a harness in its place, with its configuration.
type Agent struct {
	Harness *Harness
	Place   Place
	Config  Config
}

// Options change one run.
type Options struct {
	Env  []string // added to the environment, and stronger than what is there
	Path []string // directories before the others in PATH
	Args []string // added to the command line, before the prompt

	// Sandbox is Codex's, "danger-full-access" by default.
	Sandbox string
	// BypassHookTrust has Codex run hooks that nobody has reviewed. It skips them silently otherwise.
	BypassHookTrust bool

	// Daemon has Codex in a terminal leave its work to the daemon that it starts, as it does by default.
	Daemon bool

	// Leave has what the harness started go on after its end, until the test ends.
	Leave bool

	// Timeout ends a run that takes longer, three minutes by default, and fails the test.
	Timeout time.Duration
}

// NewPlace makes a home and a Git repository, and removes them after the test. They don't lie in
// the system's directory for temporary files, because there sandboxes allow what they forbid
// elsewhere.
func NewPlace(t testing.TB) Place {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(cache, "talking-stick-test", "run")
	if err := os.MkdirAll(base, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(base, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("a harness still writes into its home: %v", err)
		}
	})
	p := Place{Home: filepath.Join(dir, "home"), Repo: filepath.Join(dir, "repo")}
	for _, d := range []string{p.Home, p.Repo, p.Temp()} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	config := "[user]\n\tname = Ann\n\temail = ann@example.invalid\n[init]\n\tdefaultBranch = main\n"
	if err := os.WriteFile(filepath.Join(p.Home, ".gitconfig"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "init", "-q")
	git.Dir, git.Env = p.Repo, surroundings(p, nil)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return p
}

// Prepare writes the least of a configuration with which the harness runs by itself: the address of
// the model API, trust in the repository, leave to use its tools. Call it before anything else
// edits these files. It skips the test if the harness isn't installed.
func (h *Harness) Prepare(t testing.TB, p Place, c Config) *Agent {
	t.Helper()
	h.Require(t)
	if c.Model == "" {
		c.Model = h.known
	}
	a := &Agent{Harness: h, Place: p, Config: c}
	for name, content := range h.config(a) {
		path := filepath.Join(p.Home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		b, isText := content.(string)
		if !isText {
			j, err := json.MarshalIndent(content, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			b = string(j) + "\n"
		}
		if err := os.WriteFile(path, []byte(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// Command is the harness with a prompt, not started yet: in the repository, in a process group of its
// own which ends with ctx, and with nothing of the test's environment.
func (a *Agent) Command(ctx context.Context, prompt string, o Options) (*exec.Cmd, error) {
	return a.command(ctx, a.Harness.args(a, prompt, o), o)
}

func (a *Agent) command(ctx context.Context, args []string, o Options) (*exec.Cmd, error) {
	program, err := installed(a.Harness.program)
	if err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = a.Place.Repo
	c.Env = append(surroundings(a.Place, o.Path), a.Harness.env(a)...)
	c.Env = append(c.Env, o.Env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second // what it left behind may hold its output open
	return c, nil
}

// surroundings is the environment that every program gets.
func surroundings(p Place, first []string) []string {
	path := append([]string{}, first...)
	if node, err := exec.LookPath("node"); err == nil {
		path = append(path, filepath.Dir(node))
	}
	path = append(path, "/usr/local/bin", "/usr/bin", "/bin")
	return []string{
		"HOME=" + p.Home, "TMPDIR=" + p.Temp(), "PATH=" + strings.Join(path, ":"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash",
	}
}
