package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Isolated runs git in one repository, and nothing else: no hook, filter, file system monitor or background
// job, no prompt and no network. What a repository configures is the word of whoever wrote it, and what
// people configure for their own work may be slow.
type Isolated struct {
	git Client
	at  []string // flags that say which repository
	env []string
}

// maxWarned is how many bytes of git's warnings are kept.
const maxWarned = 64 << 10

// isolation turns off what a configuration starts beside git. A deletion of the user's own configuration
// would go too far: it also says which files are ignored, and how names are written.
var isolation = []string{
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "gc.auto=0", "-c", "maintenance.auto=false",
	"-c", "core.logAllRefUpdates=false", "-c", "core.quotePath=false", "-c", "submodule.recurse=false",
}

// Isolate prepares for the checkout whose top level is top. env may have GIT_DIR, GIT_WORK_TREE and
// GIT_INDEX_FILE, where they don't follow from top.
func (c Client) Isolate(ctx context.Context, top string, env ...string) (Isolated, error) {
	g := c.IsolateObjects(top, env...)
	var out bytes.Buffer
	_, err := g.Run(ctx, nil, &out,
		"config", "--name-only", "-z", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	// Status 1: there are none.
	if err != nil && !exitedWith(err, 1) {
		return Isolated{}, err
	}

	var off []string // names of filters
	for _, name := range splitNUL(out.String()) {
		if name = name[:strings.LastIndexByte(name, '.')]; !slices.Contains(off, name) {
			off = append(off, name)
		}
	}

	g.env = slices.Concat(env, filtersOff(off))
	return g, nil
}

// IsolateObjects prepares for commands that read and write objects and refs alone, where env may name the git
// directory. Git applies filters to files of a working tree only, so none has to be turned off, and git isn't
// asked for their names.
func (c Client) IsolateObjects(top string, env ...string) Isolated {
	return Isolated{git: c, at: []string{"-C", top}, env: env}
}

// IsolateOwn prepares for a repository of ours, for which nobody's configuration holds.
func (c Client) IsolateOwn(gitDir string) Isolated {
	return Isolated{
		git: c,
		at:  []string{"--git-dir=" + gitDir},
		env: []string{"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"},
	}
}

// WithEnv returns g with more variables.
func (g Isolated) WithEnv(env ...string) Isolated {
	g.env = slices.Concat(g.env, env)
	return g
}

// Run runs git and returns what it printed on its standard error. When ctx ends, Run kills git and returns
// the error of ctx. Else it fails as writing commands do: with [stick.CodeGitMissing], or with
// [stick.CodeGitFailed] and a [*Failure] as its cause.
func (g Isolated) Run(ctx context.Context, in io.Reader, out io.Writer, args ...string) (warnings string, err error) {
	path := g.git.Path
	if path == "" {
		path = "git"
	}

	cmd := exec.CommandContext(ctx, path, slices.Concat(isolation, g.at, args)...)
	// Gits that fetch although GIT_NO_LAZY_FETCH is set find no protocol to do it with.
	cmd.Env = append(readEnvironment(os.Environ(), false), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none")
	cmd.Env = append(cmd.Env, g.env...)
	said := &prefixWriter{left: maxWarned}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, said

	err = runCommand(cmd, nil)
	switch {
	case err == nil:
		return said.String(), nil
	case ctx.Err() != nil:
		return "", fmt.Errorf("git %s: %w", args[0], ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return "", errGitMissing(err)
	}

	return "", errGitFailed(newFailure(args, said, err))
}

// filtersOff returns variables that turn filters off, given their names as filter.<name>.
func filtersOff(names []string) (env []string) {
	n := 0

	// An empty command turns a filter off, unless it is required.
	set := func(key, value string) {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}

	for _, name := range names {
		set(name+".clean", "")
		set(name+".smudge", "")
		set(name+".process", "")
		set(name+".required", "false")
	}

	return append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
}
