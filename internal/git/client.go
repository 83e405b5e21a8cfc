// Package git runs git as a program, never through a shell, and reads what it prints.
//
// Git doesn't inherit the GIT_ variables of this process: a hook's GIT_DIR or GIT_INDEX_FILE would
// turn a question about one tree into an answer about another. Two exceptions: the variables that
// select a configuration file stay, and inside a hook of git all of them do ([Client.InHook]).
package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Client runs git. The zero value is ready for use.
type Client struct {
	// Path is the git program. Where it is empty, it is looked up in PATH.
	Path string

	// InHook passes all GIT_ variables on to git. In a hook of git they name the repository and the
	// index that the hook is about.
	InHook bool

	// Env is added to the environment of writing commands.
	Env []string

	// Inherit are open files that writing commands inherit. A lock on one of them lasts until the
	// command has ended, even if its caller was killed.
	Inherit []*os.File

	// clock is that of a test; nil for the system's.
	clock func() time.Time
}

// now is the present time.
func (c Client) now() time.Time {
	if c.clock != nil {
		return c.clock()
	}
	return time.Now()
}

// runReadOnly runs a git command that changes nothing in dir, and writes its output to out. When ctx ends,
// it kills git and everything that git started, and returns the error of ctx.
func (c Client) runReadOnly(ctx context.Context, dir string, out io.Writer, args ...string) error {
	return c.runCall(ctx, readCall{dir: dir, args: args, out: out})
}

// readCall is one run of git that changes nothing in dir.
type readCall struct {
	dir    string
	before []string // flags of git itself
	args   []string
	env    []string // added to the environment: where git writes instead
	in     io.Reader
	out    io.Writer
}

// runCall runs it. It fails with a [*Failure], or with the error of ctx.
func (c Client) runCall(ctx context.Context, g readCall) error {
	path, args := c.Path, g.args
	if path == "" {
		path = "git"
	}

	// Without optional locks, reading the tree never makes the owner's own git fail on index.lock. A daemon
	// that the repository's configuration names is a program like any other, and reading starts none.
	flags := []string{"--no-optional-locks", "-c", "core.fsmonitor=false", "-C", g.dir}
	cmd := exec.CommandContext(ctx, path, slices.Concat(flags, g.before, args)...)
	cmd.Env = append(readEnvironment(os.Environ(), c.InHook), g.env...)
	cmd.Stdin, cmd.Stdout = g.in, g.out

	said := &prefixWriter{left: maxSaid}
	cmd.Stderr = said

	err := runCommand(cmd, nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", args[0], ctx.Err())
	}

	return newFailure(args, said, err)
}

// configVariables tell git where its configuration files are. Users set them; git never sets them for
// its hooks, and they name no repository.
var configVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// readEnvironment returns env without git's variables, unless keep is set. It turns optional locks
// off by a variable, so that they are off in programs that git starts, too.
func readEnvironment(env []string, keep bool) []string {
	kept := make([]string, 0, len(env)+1)
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		// Windows ignores the case of names.
		isGits := len(v) >= 4 && strings.EqualFold(v[:4], "GIT_")
		if keep || !isGits || slices.Contains(configVariables, strings.ToUpper(name)) {
			kept = append(kept, v)
		}
	}

	return append(kept, "GIT_OPTIONAL_LOCKS=0")
}
