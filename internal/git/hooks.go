package git

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
)

// Staged lists the paths that the next commit changes, relative to the top level. In a hook it reads
// the index of the commit in progress, which isn't always the usual one.
func (c Client) Staged(ctx context.Context, dir string) ([]string, error) {
	return c.listPaths(ctx, dir, "diff", "--cached", "--name-only", "-z", "--no-renames")
}

// Between lists the paths that differ between two commits, relative to the top level.
func (c Client) Between(ctx context.Context, dir, from, to string) ([]string, error) {
	return c.listPaths(ctx, dir, "diff", "--name-only", "-z", "--no-renames", from, to, "--")
}

// listPaths runs a command that prints paths, each with a NUL after it.
func (c Client) listPaths(ctx context.Context, dir string, args ...string) ([]string, error) {
	var out bytes.Buffer
	if err := c.runReadOnly(ctx, dir, &out, args...); err != nil {
		return nil, err
	}
	return strings.FieldsFunc(out.String(), func(r rune) bool { return r == 0 }), nil
}

// RefValues returns the objects that refs point at now. Refs that don't exist are left out.
func (c Client) RefValues(ctx context.Context, dir string, refs ...string) (map[string]string, error) {
	var out bytes.Buffer
	args := append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, refs...)
	if err := c.runReadOnly(ctx, dir, &out, args...); err != nil {
		return nil, err
	}

	at := map[string]string{}
	for line := range strings.Lines(out.String()) {
		if object, ref, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			at[ref] = object
		}
	}

	return at, nil
}

// Setting is a value of git's configuration, and where it was set.
type Setting struct {
	Value  string
	Scope  string // system, global, local or worktree
	Origin string // the file, as git names it
}

// HooksPath returns core.hooksPath as it applies in dir. It is empty when it isn't set.
func (c Client) HooksPath(ctx context.Context, dir string) (Setting, error) {
	var out bytes.Buffer
	err := c.runReadOnly(ctx, dir, &out,
		"config", "--show-scope", "--show-origin", "--type=path", "-z", "--get", "core.hooksPath")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		// Git says by status 1 that it isn't set.
		return Setting{}, nil
	}
	if err != nil {
		return Setting{}, err
	}

	fields := strings.Split(out.String(), "\x00")
	if len(fields) < 3 {
		return Setting{}, errors.New("git config: unexpected output")
	}

	return Setting{Scope: fields[0], Origin: strings.TrimPrefix(fields[1], "file:"), Value: fields[2]}, nil
}
