package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"talkingstick/stick"
)

// Worktree is a working tree of a repository: the main one, or a linked one.
type Worktree struct {
	Path   string
	Branch string // without refs/heads/; empty for a detached HEAD
	Head   string // the commit; empty where there is none yet
	Main   bool
	Gone   bool // its directory is missing, so that only its commits can be read

	Prunable bool // only git's record of it is left; false for a locked one, which may come back
}

// Worktrees lists the working trees of the repository that dir lies in, the main one first. A bare
// repository has no main one. It fails with [stick.CodeNoRepository], [stick.CodeGitMissing] and
// [stick.CodeGitFailed].
func (c Client) Worktrees(ctx context.Context, dir string) ([]Worktree, error) {
	var out bytes.Buffer
	q := readCall{dir: dir, args: []string{"worktree", "list", "--porcelain", "-z"}, env: englishEnv, out: &out}
	if err := c.runCall(ctx, q); err != nil {
		return nil, c.explainFailure(dir, err)
	}

	trees, err := parseWorktrees(out.String())
	if err != nil {
		return nil, err
	}

	// For a submodule, and for a repository with a separate git directory, git lists the git directory
	// instead of the main working tree.
	if len(trees) > 0 && trees[0].Main {
		if top, ok := c.mainTop(ctx, dir); ok {
			trees[0].Path = top
		}
	}

	for i, w := range trees {
		info, err := os.Stat(w.Path)
		trees[i].Gone = err != nil || !info.IsDir()
	}

	return trees, nil
}

// mainTop returns the top level of the main working tree. ok is false outside of that.
func (c Client) mainTop(ctx context.Context, dir string) (top string, ok bool) {
	said, err := c.runLine(
		ctx, dir, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--show-toplevel",
	)
	lines := strings.Split(said, "\n")
	isMain := len(lines) == 3 && lines[0] == lines[1]
	if err != nil || !isMain {
		return "", false
	}
	return lines[2], true
}

// englishEnv makes git say what went wrong in words that explainFailure knows.
var englishEnv = []string{"LC_ALL=C"}

// runLine returns the output of a command without its last line end.
func (c Client) runLine(ctx context.Context, dir string, args ...string) (string, error) {
	var out bytes.Buffer
	err := c.runCall(ctx, readCall{dir: dir, args: args, env: englishEnv, out: &out})
	return strings.TrimSuffix(out.String(), "\n"), err
}

// parseWorktrees parses the output of git worktree list --porcelain -z: attributes that end with NUL, and
// an empty one after each working tree.
func parseWorktrees(output string) ([]Worktree, error) {
	var trees []Worktree
	var w Worktree
	bare, first := false, true

	// A bare repository comes first, and has no working tree.
	for output != "" {
		attribute, rest, ok := strings.Cut(output, "\x00")
		if !ok {
			return nil, fmt.Errorf("read git worktree list: the output ends in the middle of an attribute")
		}

		output = rest
		name, value, _ := strings.Cut(attribute, " ")
		switch name {
		case "":
			if !bare && w.Path != "" {
				w.Main = first
				trees = append(trees, w)
			}
			w, bare, first = Worktree{}, false, false
		case "worktree":
			w.Path = value
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, "refs/heads/")
		case "prunable":
			w.Prunable = true
		case "bare":
			bare = true
		}
	}

	return trees, nil
}

// explainFailure turns a failure of git into an error that says what it means: there is no git, no repository
// at dir, or what git says.
func (c Client) explainFailure(dir string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		missing := stick.Errorf(stick.CodeGitMissing, "git isn't installed, or not in PATH").Hintf("install git, or add it to PATH")
		missing.Err = err
		return missing
	}

	f := asFailure(err)
	switch {
	case f == nil:
		return err
	case f.isNoRepository():
		return errNoRepository(dir, f)
	}

	return errGitFailed(f)
}
