//go:build linux

package realharness

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Harness is one of the real programs.
type Harness struct {
	Name string // as in its agents' ids

	program string                      // the name by which npm installs it
	node22  bool                        // it needs a newer node than the machine's may be
	known   string                      // a model that it knows, the default for tests
	config  func(*Agent) map[string]any // files below the home: text, or a value for JSON
	args    func(a *Agent, prompt string, o Options) []string
	tui     func(a *Agent, o Options) []string // in a terminal
	ready   string                             // what the terminal shows when a prompt can be typed
	env     func(*Agent) []string
	quiet   []string // the environment that keeps it from the network, where it could reach it
	answer  func(out []byte, r *Result)
}

// All are the harnesses, each at the version that .ci/npm installs.
var All = []*Harness{Claude, Codex, Gemini, OpenCode, Copilot, Qwen, Pi}

// Place is where harnesses work. Several may share one, as on a person's machine.
type Place struct {
	Home string
	Repo string // where they are started
}

// Temp returns the directory for temporary files.
func (p Place) Temp() string { return filepath.Join(p.Home, "tmp") }

// Config is a harness's configuration: its model, and what it may do.
type Config struct {
	// API is the base address of the model API, from modelapi.Session. It may change between runs
	// without another Prepare.
	API string

	// Model is the model that the harness asks for, by default one that it knows. Codex's tools depend
	// on the model: today's models get a single tool that takes code, unknown models get plain tools.
	Model string

	// Servers are the MCP servers whose tools may be called without asking a person. Claude Code
	// refuses all others when no person is there; the other harnesses don't need this.
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
	Env  []string // added to the environment; overrides what is there
	Path []string // directories before the others in PATH
	Args []string // added to the command line, before the prompt

	// Sandbox is Codex's, "danger-full-access" by default.
	Sandbox string
	// BypassHookTrust makes Codex run hooks that nobody has reviewed. Otherwise it skips them silently.
	BypassHookTrust bool

	// Daemon lets Codex in a terminal leave its work to the daemon that it starts, which is its default.
	Daemon bool

	// Network is where it runs; nil for the network of the test.
	Network *Network

	// Leave lets processes that the harness started run on after its end, until the test ends.
	Leave bool

	// Timeout ends a run that takes longer and fails the test. The default is three minutes.
	Timeout time.Duration
}

// NewPlace creates a home and a Git repository, and removes them after the test. They aren't in the system's
// directory for temporary files, because sandboxes allow more there than elsewhere.
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
	git.Dir, git.Env = p.Repo, baseEnvironment(p, nil)
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return p
}

// Prepare writes the smallest configuration with which the harness runs without a person: the address of the
// model API, trust in the repository, permission to use its tools. Call it before anything else edits these
// files. It skips the test if the harness isn't installed.
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

// Command returns the command that runs the harness with a prompt. It runs in the repository with nothing of
// the test's environment. It has its own process group, which is killed when ctx ends.
func (a *Agent) Command(ctx context.Context, prompt string, o Options) (*exec.Cmd, error) {
	return a.newCommand(ctx, a.Harness.args(a, prompt, o), o)
}

// Own returns another command of the harness's own, such as the one that installs a plugin, in the same
// surroundings.
func (a *Agent) Own(ctx context.Context, args []string, o Options) (*exec.Cmd, error) {
	return a.newCommand(ctx, args, o)
}

func (a *Agent) newCommand(ctx context.Context, args []string, o Options) (*exec.Cmd, error) {
	program, err := installedPath(a.Harness.program)
	if err != nil {
		return nil, err
	}

	c := exec.CommandContext(ctx, program, args...)
	c.Dir = a.Place.Repo

	path := o.Path
	if a.Harness.node22 {
		node, err := installedPath("node")
		if err == nil {
			// All the harnesses lie beside the link.
			node, err = filepath.EvalSymlinks(node)
		}
		if err != nil {
			return nil, err
		}
		path = append(slices.Clone(path), filepath.Dir(node))
	}

	c.Env = append(baseEnvironment(a.Place, path), a.Harness.env(a)...)
	if o.Network == nil {
		c.Env = append(c.Env, a.Harness.quiet...)
	}
	c.Env = append(c.Env, o.Env...)

	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

	// Processes that it leaves may keep its output open.
	c.WaitDelay = 5 * time.Second
	return c, nil
}

// baseEnvironment is the environment that every program gets.
func baseEnvironment(p Place, first []string) []string {
	path := append([]string{}, first...)
	if node, err := exec.LookPath("node"); err == nil {
		path = append(path, filepath.Dir(node))
	}

	path = append(path, "/usr/local/bin", "/usr/bin", "/bin")
	return []string{
		"HOME=" + p.Home, "TMPDIR=" + p.Temp(), "PATH=" + strings.Join(path, ":"), "TERM=xterm-256color", "LANG=C.UTF-8", "SHELL=/bin/bash",
	}
}
