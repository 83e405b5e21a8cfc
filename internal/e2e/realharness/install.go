//go:build linux

package realharness

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/testenv"
)

// npmDir is where .ci/npm installs.
func npmDir() (string, error) {
	if dir := os.Getenv("TT_NPM_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "talking-stick-test", "npm"), err
}

// installedPath returns the path of a program that .ci/npm installs. An incomplete installation counts as none:
// installed.json is written last.
func installedPath(program string) (string, error) {
	dir, err := npmDir()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "installed.json")); err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(dir, "node_modules", ".bin", program))
}

// Require skips the test unless all these harnesses are installed, or fails it where everything has to be
// installed. A short run leaves the test out: real harnesses take long, and most of that is theirs.
func Require(t testing.TB, all ...*Harness) {
	t.Helper()
	testenv.SkipShort(t, testenv.Harnesses, "sessions of "+Names(all))
	for _, h := range all {
		requireProgram(t, h.program)
	}
}

// Require is [Require] for one harness.
func (h *Harness) Require(t testing.TB) {
	t.Helper()
	Require(t, h)
}

// Names lists the names of harnesses.
func Names(all []*Harness) string {
	var names []string
	for _, h := range all {
		names = append(names, h.Name)
	}
	return strings.Join(names, ", ")
}

// Inspector is the path of the MCP inspector, which is a client of another hand: with --cli, a
// server's command line and --method it makes one call and prints the result. It skips like Require.
func Inspector(t testing.TB) string {
	t.Helper()
	testenv.SkipShort(t, testenv.Harnesses, "calls of the MCP inspector")
	return requireProgram(t, "mcp-inspector")
}

// requireProgram returns the path of a program that .ci/npm installs and node runs.
func requireProgram(t testing.TB, program string) string {
	t.Helper()
	path, err := installedPath(program)
	if err == nil {
		_, err = exec.LookPath("node")
	}
	switch missing := errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound); {
	case err == nil:
	case missing && os.Getenv("TT_REQUIRE_ALL") != "1":
		t.Skipf("%s isn't installed: make deps-test", program)
	default:
		t.Fatalf("%s isn't installed: %v: make deps-test", program, err)
	}
	return path
}
