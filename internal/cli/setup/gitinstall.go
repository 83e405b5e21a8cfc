package setup

import (
	"cmp"
	"context"
	"errors"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/git"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// findRepository returns the repository of the working directory, whatever git's variables say, and where it
// keeps its hooks.
func findRepository(ctx context.Context, a *app.Run) (install.Repository, error) {
	env := workspace.Env{Dir: a.Dir, Home: a.Home}
	r := install.Repository{Path: a.Dir}

	// Outside of a repository the caller decides whether that is a failure.
	found, ok := workspace.FindRepository(".", env)
	if !ok {
		r.Missing = workspace.CheckRepository(".", env)
		return r, nil
	}

	r.Git, r.Top = found.Git, found.Top
	if place, err := workspace.Resolve(".", env); err == nil {
		r.Bare = found.Top == "" && place.Worktree == ""
	}

	// Only git knows where its hooks are: core.hooksPath may be set in several files.
	s, err := git.Client{}.HooksPath(ctx, cmp.Or(found.Top, found.Git))
	if errors.Is(err, exec.ErrNotFound) {
		return r, stick.Errorf(stick.CodeGitMissing,
			"git isn't installed, or not in PATH, so tt can't tell where its hooks belong").
			Hintf("install git, or put it into PATH")
	}

	if err != nil {
		return r, stick.Errorf(stick.CodeConfigUnwritable, "git doesn't say where its hooks are: %w", err).
			With("path", r.Git).
			Hintf("see what git says here: %s", stick.Cmd("git status"))
	}

	r.HooksPath, r.Scope, r.Origin = s.Value, s.Scope, s.Origin
	r.Exposed = showsHooks(ctx, a, r)
	r.SetHooksPath = func(value string) error {
		return git.Client{}.SetConfigIn(ctx, cmp.Or(r.Top, r.Git), cmp.Or(r.Scope, "local"), "core.hooksPath", value)
	}

	return r, nil
}

// showsHooks reports whether git shows files in the directory of a repository's hooks, as tracked or as new
// ones.
func showsHooks(ctx context.Context, a *app.Run, r install.Repository) bool {
	dir := filepath.FromSlash(r.HooksPath)
	if dir == "" || r.Top == "" {
		return false
	}

	if filepath.IsAbs(dir) {
		below, err := filepath.Rel(r.Top, dir)
		if err != nil {
			return false
		}

		dir = below
	}

	first, _, _ := strings.Cut(filepath.ToSlash(filepath.Clean(dir)), "/")
	if !filepath.IsLocal(dir) || first == ".git" {
		return false
	}

	var files []string
	for _, name := range install.GitHooks() {
		files = append(files, path.Join(filepath.ToSlash(dir), name))
	}

	ignored, err := git.Client{}.WouldIgnore(ctx, r.Top, files)
	return err == nil && len(ignored) < len(files)
}

// gitSteps plans the hooks of the repository of the working directory. If there is no repository, or its
// hooks are kept elsewhere, that is a failure only if git was named; otherwise the plan says so.
func gitSteps(
	ctx context.Context, a *app.Run, t install.Target, named bool, o installOptions,
) ([]install.FileChange, error) {
	r, err := findRepository(ctx, a)
	r.PrePush = o.prePush
	if !named && (r.Git == "" || r.Bare) {
		return nil, nil
	}

	var steps []install.FileChange
	switch {
	case err != nil:
	case o.removing:
		steps, err = install.UninstallGit(t, r)
	default:
		steps, err = install.InstallGit(t, r)
	}

	if err == nil || named {
		return steps, err
	}

	e := stick.AsError(err)
	file, _ := e.Fields["path"].(string)
	return []install.FileChange{
		{Harness: install.Git, What: "hooks", File: file, State: install.Kept, Note: e.Words()},
	}, nil
}

// GitStatus says whether our hooks are in the repository of the working directory. It returns nil if there is
// no repository that agents could share.
func GitStatus(ctx context.Context, a *app.Run) *install.GitStatus {
	r, err := findRepository(ctx, a)
	if r.Git == "" || r.Bare {
		return nil
	}
	if err != nil {
		return &install.GitStatus{Installed: install.No, Hooks: []stick.Words{}, Problem: stick.AsError(err).Words()}
	}

	t, err := InstallTarget(a, false)
	if err != nil && t.TT == "" {
		// A program that can't be installed can still check.
		t.TT = a.Exe
	}

	s := install.CheckGit(t, r)
	return &s
}

// ShowGitHooks shows whether our hooks are in the repository.
func ShowGitHooks(p *term.Page, s *install.GitStatus) {
	if s == nil {
		return
	}

	says := stick.Words("hooks not installed")
	switch {
	case s.Problem != "":
		says = "hooks not installed: " + s.Problem
	case s.Installed == install.All:
		says = stick.Wordsf("hooks installed (%s)", s.Path)
		if slices.Contains(s.Hooks, "pre-push") {
			says = stick.Wordsf("hooks installed, and pre-push (%s)", s.Path)
		}
	case s.Installed == install.Partly:
		says = stick.Wordsf("hooks partly installed (%s); missing or changed: %s",
			s.Path, stick.JoinWords(s.Missing, ", "))
	}

	p.Linef("%-8s %s", "git", says)
	if s.Installed != install.All && s.Problem == "" {
		p.Linef("         %-12s %s", "", p.Faint("fix: tt install git"))
	}
}
