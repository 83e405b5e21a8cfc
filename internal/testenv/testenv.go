// Package testenv keeps tests away from the home and the git configuration of whoever runs them, and from the
// repository that holds them. It is linked into tests only.
//
// See docs/decisions/tests.md.
package testenv

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Run runs the tests of a package and returns their exit status. TestMain of every package whose tests start
// processes calls it (see TestProcessesHaveSurroundings at the root).
//
// The tests get a home with nothing in it but a name for git's commits. They get no variable of git's, and
// git finds no repository above the directory of the package. When they have ended, the repository that holds
// them must be unchanged: a new commit, another branch, a hook or a line of configuration fails them.
func Run(m *testing.M) int {
	holder := findRepository()
	before := holder.readState()

	clean, err := setEnvironment(holder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "the surroundings of the tests:", err)
		return 1
	}

	status := m.Run()
	for _, end := range ends {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "the surroundings of the tests:", err)
			status = max(status, 1)
		}
	}

	if err := clean(); err != nil {
		fmt.Fprintln(os.Stderr, "the surroundings of the tests:", err)
		status = max(status, 1)
	}

	for _, line := range listDifferences(before, holder.readState()) {
		fmt.Fprintf(os.Stderr, "FAIL: %s of the repository that holds the tests while they ran: %s\n", line, holder.root)
		status = max(status, 1)
	}
	return status
}

var ends []func() error

// AtEnd has Run call end when all tests of the package have ended.
func AtEnd(end func() error) { ends = append(ends, end) }

// setEnvironment sets the environment of the tests. It refuses a directory for temporary files inside the
// repository: there a test that expects to be outside of any repository would work, and commit, in this one.
func setEnvironment(holder repository) (clean func() error, err error) {
	if holder.root != "" {
		temp, err := filepath.EvalSymlinks(os.TempDir())
		if err != nil {
			return nil, err
		}
		if rel, err := filepath.Rel(holder.root, temp); err == nil && filepath.IsLocal(rel) {
			return nil, fmt.Errorf("the directory for temporary files, %s, lies in the repository that holds the tests; set TMPDIR to one outside", temp)
		}
	}

	home, err := os.MkdirTemp("", "tt-home-")
	if err != nil {
		return nil, err
	}

	if err := configureGit(home); err != nil {
		return nil, err
	}

	// The caches would move with the home, and take long to make again. .ci/npm installs harnesses into one.
	kept := map[string]string{}
	if cache, err := os.UserCacheDir(); err == nil {
		kept["XDG_CACHE_HOME"] = cache
		kept["GOCACHE"] = filepath.Join(cache, "go-build")
	}
	if user, err := os.UserHomeDir(); err == nil {
		kept["GOPATH"] = filepath.Join(user, "go")
	}

	for name, value := range kept {
		if os.Getenv(name) == "" {
			os.Setenv(name, value)
		}
	}

	// The tests may run inside a hook of git.
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		ours := name == "XDG_CACHE_HOME" || name == "XDG_RUNTIME_DIR"
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "XDG_") && !ours {
			os.Unsetenv(name)
		}
	}

	os.Setenv("HOME", home)
	os.Setenv("USERPROFILE", home) // Windows
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("LC_ALL", "C") // git's messages in English

	if holder.root != "" {
		os.Setenv("GIT_CEILING_DIRECTORIES", holder.root)
	}

	return func() error { return os.RemoveAll(home) }, nil
}

// configureGit writes the configuration of git for a home of tests: a name for commits, and nothing done that
// no test looks at. Without it each commit starts two more processes that look for something to tidy up, and
// each new repository begins with fourteen files that explain hooks. A test that is about one of these sets
// it itself, or has a home of its own.
func configureGit(home string) error {
	template := filepath.Join(home, "template")

	// Tests put files into these.
	for _, dir := range []string{"hooks", "info"} {
		if err := os.MkdirAll(filepath.Join(template, dir), 0o700); err != nil {
			return err
		}
	}

	config := fmt.Sprintf("[init]\n\ttemplateDir = %q\n", filepath.ToSlash(template)) +
		"[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = none\n"
	quickGit = filepath.Join(home, "quick.gitconfig")
	if err := os.WriteFile(quickGit, []byte(config), 0o600); err != nil {
		return err
	}

	config += "[user]\n\tname = a\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"
	return os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o600)
}

var quickGit string

// QuickGit returns a configuration file for git, to be the system's (GIT_CONFIG_SYSTEM) where a test makes a
// home of its own: repositories begin without samples of hooks, and nothing collects garbage or syncs.
func QuickGit() string { return quickGit }

// repository is the repository that holds the tests. It is zero if there is none, or no git.
type repository struct {
	root   string // of the working tree
	common string // what its working trees share
}

func findRepository() repository {
	out, err := exec.Command("git", "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir").Output()
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")

	if err != nil || len(lines) != 2 {
		return repository{}
	}
	return repository{root: filepath.FromSlash(lines[0]), common: filepath.FromSlash(lines[1])}
}

// readState is the part of the repository that only its users change. Files of the working tree aren't part of
// it, because people edit them while tests run. `make test` compares these, too.
func (r repository) readState() map[string]string {
	state := map[string]string{}
	if r.root == "" {
		return state
	}

	for what, args := range map[string][]string{
		"the commit": {"rev-parse", "--quiet", "--verify", "HEAD"},
		"the branch": {"symbolic-ref", "--quiet", "HEAD"},
	} {
		c := exec.Command("git", append([]string{"-C", r.root}, args...)...)
		c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GIT_") })
		out, err := c.Output()

		// 1 says that there is no commit yet, or no branch.
		exit, ok := errors.AsType[*exec.ExitError](err)
		if err != nil && (!ok || exit.ExitCode() != 1) {
			out = []byte(err.Error())
		}
		state[what] = string(bytes.TrimSpace(out))
	}

	config, err := os.ReadFile(filepath.Join(r.common, "config"))
	if err != nil {
		config = []byte(err.Error())
	}
	state["the configuration"] = string(config)

	hooks, err := os.ReadDir(filepath.Join(r.common, "hooks"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		state["the hooks"] = err.Error()
	}
	for _, h := range hooks {
		b, err := os.ReadFile(filepath.Join(r.common, "hooks", h.Name()))
		if err != nil {
			b = []byte(err.Error())
		}
		state["the hook "+h.Name()] = string(b)
	}
	return state
}

// listDifferences lists what has changed between two states, one change a line.
func listDifferences(before, after map[string]string) []string {
	var lines []string
	for _, what := range slices.Sorted(maps.Keys(before)) {
		if b, a := before[what], after[what]; a != b {
			line := what + " changed"
			if !strings.Contains(a+b, "\n") && len(a+b) < 200 {
				line = fmt.Sprintf("%s changed from %q to %q", what, b, a)
			}
			lines = append(lines, line)
		}
	}

	for _, what := range slices.Sorted(maps.Keys(after)) {
		if _, had := before[what]; !had {
			lines = append(lines, what+" came to be")
		}
	}
	return lines
}
