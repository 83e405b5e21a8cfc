package pull

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"talkingstick/internal/forge"
	"talkingstick/internal/task/command"
	"talkingstick/stick"
)

// programLimit is how long the program of a forge may take for an answer.
const programLimit = 30 * time.Second

// maxProgramOutput is how many bytes of its answer are read.
const maxProgramOutput = 4 << 20

// chooseProgram returns the program that speaks to a forge: the one that the host's name tells, else the one
// that is logged in there. It fails with [stick.CodeForgeFailed].
func (rq *Requests) chooseProgram(ctx context.Context, at forge.Repo) (forge.Program, error) {
	// The name of the host tells most often.
	var names []string
	for _, p := range forge.Programs {
		names = append(names, p.Name)
		if p.ServesHost(at.Host) {
			if _, err := exec.LookPath(p.Name); err != nil {
				return p, errForgeMissing(p.Name, at.Host)
			}
			return p, nil
		}
	}

	// Of a host of somebody's own, only a program that is logged in there can tell.
	for _, p := range forge.Programs {
		if _, err := exec.LookPath(p.Name); err != nil {
			continue
		}
		if _, err := rq.programRunner(at)(ctx, p.LoggedIn(at.Host)); err == nil {
			return p, nil
		}
	}

	return forge.Program{}, stick.Errorf(stick.CodeForgeFailed, "neither %s is logged in at %s",
		stick.Words(strings.Join(names, " nor ")), at.Host).
		With("host", at.Host).
		Hintf("log in: %s, or %s", stick.Cmd("gh auth login --hostname <host>", at.Host),
			stick.Cmd("glab auth login --hostname <host>", at.Host))
}

func errForgeMissing(program, host string) error {
	return stick.Errorf(stick.CodeForgeFailed, "%s isn't installed, which speaks to %s", program, host).
		With("program", program).With("host", host).
		Hintf("install %s, and log in: %s", program, stick.Cmd(program+" auth login --hostname <host>", host))
}

// resolveAlias returns the repository of an address whose host is an alias of ssh's configuration. ok is
// false for an address that has none. It fails with [stick.CodeForgeFailed] if ssh knows no forge by that
// name.
func (q *pullRun) resolveAlias(ctx context.Context, address string) (at forge.Repo, ok bool, err error) {
	alias, ok := forge.ParseAlias(address)
	if !ok {
		return at, false, nil
	}

	// ssh answers what the alias stands for, without connecting.
	out, err := q.requests.askProgram(ctx, programCall{
		args: []string{"ssh", "-G", "--", alias.Host}, dir: q.Core.Config.Dir,
	})

	if ctx.Err() != nil {
		return at, false, ctx.Err()
	}

	for line := range strings.Lines(string(out)) {
		if name, found := strings.CutPrefix(line, "hostname "); found && err == nil && strings.Contains(name, ".") {
			if at, ok := alias.At(strings.TrimSpace(name)); ok {
				return at, true, nil
			}
		}
	}

	return at, false, stick.Errorf(stick.CodeForgeFailed,
		"tt can't tell which forge %s is, the host of the remote %s", alias.Host, q.target.Remote).
		With("host", alias.Host).With("remote", q.target.Remote).
		Hintf("set the remote's address with the forge's own name, such as %s",
			stick.Cmd("git remote set-url <remote> <address>", q.target.Remote, "git@github.com:"+alias.Path+".git"))
}

// errForge makes an error about the forge's program.
func (q *pullRun) errForge(format string, args ...any) *stick.Error {
	return stick.Errorf(stick.CodeForgeFailed, format, args...).With("program", q.program.Name).
		With("host", q.forgeRepo.Host)
}

// programRunner returns what runs the program of a forge: without a shell, in no repository, so that it takes
// nothing from one.
func (rq *Requests) programRunner(at forge.Repo) forge.Run {
	return func(ctx context.Context, c forge.Command) ([]byte, error) {
		name := c.Args[0]
		out, err := rq.askProgram(ctx, programCall{args: c.Args, dir: rq.core.Config.Dir, input: c.Input})
		f, ok := errors.AsType[*programError](err)

		switch {
		case !ok:
			return out, err
		case errors.Is(f.err, exec.ErrNotFound):
			return nil, errForgeMissing(name, at.Host)
		}

		// Each program says in its own way that nobody is logged in.
		e := f.asError(stick.Wordsf("%s", name)).With("program", name).With("host", at.Host)
		exit, _ := errors.AsType[*exec.ExitError](f.err)
		if exit != nil && exit.ExitCode() == 4 && name == "gh" || strings.Contains(f.stderr, "auth login") ||
			strings.Contains(f.stderr, "401") {
			return nil, e.
				Hintf("log in: %s; then run the same command again",
					stick.Cmd(name+" auth login --hostname <host>", at.Host))
		}

		return nil, e.
			Hintf("check the network and %s, and run the same command again",
				stick.Cmd(name+" auth status --hostname <host>", at.Host))
	}
}

// programCall is a program to run for what it prints.
type programCall struct {
	args  []string
	dir   string
	env   []string // added to the environment
	input string   // for its standard input
}

// programError says how a program failed.
type programError struct {
	err    error
	stderr string        // on standard error
	limit  time.Duration // the time limit, if it was reached
	env    []string      // of tt
}

func (f *programError) Error() string { return f.err.Error() }

// asError returns the error for a program of this name.
func (f *programError) asError(name stick.Words) *stick.Error {
	if f.limit != 0 {
		return stick.Errorf(stick.CodeForgeFailed, "%s didn't answer within %s", name, f.limit)
	}
	return stick.Errorf(stick.CodeForgeFailed, "%s failed: %s", name, reasonOf(f.stderr, f.env, f.err))
}

// askProgram runs a program, in its own process group, and returns what it prints on standard output. When
// the time limit is reached or ctx ends, the whole group is killed. It fails with a [*failed], and with the
// error of ctx.
func (rq *Requests) askProgram(ctx context.Context, q programCall) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, rq.limit)
	defer cancel()

	cmd := exec.CommandContext(limited, q.args[0], q.args[1:]...)

	// Nothing of the caller's environment may choose another repository.
	cmd.Dir, cmd.Env = q.dir, append(forgeEnviron(rq.core.Config.Environ), q.env...)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(q.input), time.Second
	out, stderr := &firstBytes{most: maxProgramOutput}, &firstBytes{most: 8 << 10}
	cmd.Stdout, cmd.Stderr = out, stderr
	command.SetOwnGroup(cmd)

	// What a wrapper has started must not go on beside the next run.
	command.KillGroupOnCancel(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return out.kept.Bytes(), nil
	}

	// The caller needs to know whether the program failed, or only took too long.
	f := &programError{err: err, stderr: stderr.kept.String(), env: rq.core.Config.Environ}
	if limited.Err() != nil {
		f.limit = rq.limit
	}
	return nil, f
}

// unwanted are variables that make the program of a forge name another repository, or print colours or more
// than was asked for.
var unwanted = []string{"GH_REPO", "GITLAB_REPO", "GH_FORCE_TTY", "GH_DEBUG", "DEBUG", "CLICOLOR_FORCE", "FORCE_COLOR"}

// forgeEnviron returns the environment of the program of a forge: without what names a repository, and with
// what keeps the program from asking, and from painting.
func forgeEnviron(env []string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "GIT_") || slices.Contains(unwanted, name)
	})
	return append(env, "GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "NO_PROMPT=1",
		"GLAB_CHECK_UPDATE=false", "NO_COLOR=1", "GIT_TERMINAL_PROMPT=0")
}

// firstBytes keeps the beginning of what is written to it.
type firstBytes struct {
	kept bytes.Buffer
	most int
}

func (f *firstBytes) Write(p []byte) (int, error) {
	if room := f.most - f.kept.Len(); room > 0 {
		f.kept.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// secret matches what programs of forges use as tokens, and the password in an address.
var secret = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`gh[a-z]_[A-Za-z0-9]+|github_pat_\w+|gl[a-z]+-[\w.-]{10,}|://[^/@\s]+@|(?i:bearer|token|authorization)[:= ]+(?i:bearer +|token +|basic +)?\S+`)
})

// tokenVariables hold tokens.
var tokenVariables = []string{
	"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN",
	"GITLAB_TOKEN", "GITLAB_ACCESS_TOKEN", "OAUTH_TOKEN", "CI_JOB_TOKEN",
}

// reasonOf returns the first line that a program said, without secrets; else how it ended.
func reasonOf(stderr string, env []string, err error) string {
	// Programs repeat tokens in their messages.
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if len(value) > 3 && slices.Contains(tokenVariables, name) {
			stderr = strings.ReplaceAll(stderr, value, "[hidden]")
		}
	}

	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(stick.Line(line)); line != "" {
			return stick.Clip(secret().ReplaceAllString(line, "[hidden]"), 200)
		}
	}

	return err.Error()
}
