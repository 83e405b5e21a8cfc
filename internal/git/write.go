package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
)

// writeCall is one run of a writing command.
type writeCall struct {
	dir string
	in  io.Reader
	out io.Writer

	limit  time.Duration // how long git may take; 0 for the usual
	waited stick.Words   // what it waits for beyond that, where it can't be seen
}

// MinVersion is the oldest git that can merge without a checkout, which tasks need.
var MinVersion = [2]int{2, 38}

// noBackground keeps git from starting anything beside the command itself.
var noBackground = []string{
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false",
}

// keptVariables are the GIT_ variables that say who the user is and how to reach remotes. Others could
// redirect a command to another repository.
var keptVariables = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_NO_VERIFY", "GIT_PROXY_COMMAND",
}

// writeEnvironment returns the environment of writing commands.
func (c Client) writeEnvironment(env []string) []string {
	out := readEnvironment(env, false)
	for _, v := range env {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains(keptVariables, name) {
			out = append(out, v)
		}
	}

	// Nothing asks anybody, and git says what went wrong in words that tt knows.
	out = append(out, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=true", "GIT_MERGE_AUTOEDIT=no",
		"LC_ALL=C")
	return append(out, c.Env...)
}

// runWrite runs a git command that may change something. It fails with [stick.CodeGitMissing], or with
// [stick.CodeGitFailed] and a [*Failure] as its cause: so also if git waits too long for a program that it
// has started.
func (c Client) runWrite(ctx context.Context, q writeCall, args ...string) error {
	path := c.Path
	if path == "" {
		path = "git"
	}

	running, kill := context.WithCancel(ctx)
	defer kill()

	cmd := exec.CommandContext(running, path, append(append(slices.Clone(noBackground), "-C", q.dir), args...)...)
	cmd.Env = c.writeEnvironment(os.Environ())
	cmd.Stdin, cmd.Stdout = q.in, q.out
	// Windows has no ExtraFiles.
	if runtime.GOOS != "windows" {
		cmd.ExtraFiles = c.Inherit
	}

	said := &prefixWriter{left: maxSaid}
	cmd.Stderr = said

	w := newWatch(q.limit, kill)
	err := runCommand(cmd, func() { w.startWatching(cmd.Process.Pid) })

	w.stop()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case w.passed:
		return errTooLong(newFailure(args, said, err), w, q.waited)
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) && cmd.Process == nil:
		// A directory that is missing looks like a missing program.
		if _, serr := os.Stat(q.dir); serr == nil {
			return errGitMissing(err)
		}
	}

	return errGitFailed(newFailure(args, said, err))
}

// prefixWriter is a writer that keeps the first bytes written to it.
type prefixWriter struct {
	buf  bytes.Buffer
	left int
	cut  bool
}

func (h *prefixWriter) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.buf.Write(p[:n])
	h.left -= n
	h.cut = h.cut || n < len(p)
	return len(p), nil
}

func (h *prefixWriter) String() string { return h.buf.String() }

// runText runs git and returns its output without the last line end.
func (c Client) runText(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	err := c.runWrite(ctx, writeCall{dir: dir, out: &out}, args...)
	return strings.TrimRight(out.String(), "\n"), err
}

// runList runs git and splits its output at NULs.
func (c Client) runList(ctx context.Context, dir string, args ...string) ([]string, error) {
	var out bytes.Buffer
	if err := c.runWrite(ctx, writeCall{dir: dir, out: &out}, args...); err != nil {
		return nil, err
	}
	return splitNUL(out.String()), nil
}

func splitNUL(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\x00"), func(s string) bool { return s == "" })
}

// CheckVersion fails with [stick.CodeGitTooOld] if git is older than [MinVersion], and with
// [stick.CodeGitMissing] if there is none.
func (c Client) CheckVersion(ctx context.Context, dir string) error {
	return c.requireVersion(ctx, dir, MinVersion[0], MinVersion[1])
}

// Checkout describes the checkout that a directory lies in.
type Checkout struct {
	Top     string // the top level; empty in a bare repository
	GitDir  string // the git directory of this checkout
	Common  string // the one that all checkouts share
	Bare    bool
	Shallow bool
}

// newCheckout returns the checkout that git describes in these lines.
func newCheckout(lines []string, top string) Checkout {
	return Checkout{
		Bare:    lines[0] == "true",
		Shallow: lines[1] == "true",
		GitDir:  lines[2],
		Common:  lines[3],
		Top:     top,
	}
}

// Checkout asks git which checkout dir lies in. Where git finds no repository, it fails with
// [stick.CodeNoRepository].
func (c Client) Checkout(ctx context.Context, dir string) (Checkout, error) {
	ask := []string{
		"rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--is-shallow-repository", "--git-dir", "--git-common-dir",
	}

	// Most calls need one git: all is printed, the top level as the last line.
	said, err := c.runText(ctx, dir, append(ask, "--show-toplevel")...)
	if lines := strings.Split(said, "\n"); err == nil && len(lines) == 5 {
		return newCheckout(lines[:4], lines[4]), nil
	}

	// There is no top level: in a bare repository, for one.
	said, err = c.runText(ctx, dir, ask...)
	if f := asFailure(err); f != nil && f.isNoRepository() {
		return Checkout{}, errNoRepository(dir, f)
	}

	if err != nil {
		return Checkout{}, err
	}

	lines := strings.Split(said, "\n")
	if len(lines) != 4 {
		return Checkout{}, fmt.Errorf("git rev-parse printed %q", said)
	}

	co := newCheckout(lines, "")
	if !co.Bare {
		co.Top, err = c.runText(ctx, dir, "rev-parse", "--path-format=absolute", "--show-toplevel")
	}

	return co, err
}

// Identity fails if git doesn't know your name and email, which a commit needs.
func (c Client) Identity(ctx context.Context, dir string) error {
	_, err := c.runText(ctx, dir, "var", "GIT_COMMITTER_IDENT")
	if f := asFailure(err); f != nil {
		return (&stick.Error{Code: stick.CodeGitFailed, Message: "git doesn't know your name and email, which a commit needs", Err: f}).
			Hintf("%s and %s", stick.Cmd("git config user.name …"), stick.Cmd("git config user.email …"))
	}

	return err
}

// Config returns the value of a key of the repository's configuration, and "" if it isn't set.
func (c Client) Config(ctx context.Context, dir, key string) (string, error) {
	v, err := c.runText(ctx, dir, "config", "--get", key)
	if exitedWith(err, 1) {
		return "", nil
	}
	return v, err
}

// SetConfigIn sets a key of git's configuration in a scope: local or worktree.
func (c Client) SetConfigIn(ctx context.Context, dir, scope, key, value string) error {
	return c.runWrite(ctx, writeCall{dir: dir}, "config", "--"+scope, key, value)
}

// SetConfig sets a key of the repository's own configuration.
func (c Client) SetConfig(ctx context.Context, dir, key, value string) error {
	return c.runWrite(ctx, writeCall{dir: dir}, "config", "--local", key, value)
}
