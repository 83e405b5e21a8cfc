package repository

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// keepFiles keeps a copy of those files of a worktree that the project wants to keep and git ignores, before
// the worktree is removed. What the room's checkout has just so needs no copy. It returns why the worktree
// must stay, "" if it may go.
func (rp *Repo) keepFiles(ctx context.Context, c CleanupIntent, r *Remains) (why stick.Words) {
	files, repositories, err := rp.filesToKeep(ctx, c)
	if err != nil {
		return stick.Wordsf("%s: tt can't tell what is to be kept of it: %s", c.Path, stick.AsError(err))
	}

	if len(repositories) > 0 {
		return stick.Wordsf("%s: tt can't keep %s, because it is a repository of its own: copy what you need of it elsewhere, and remove it",
			c.Path, someOf(repositories))
	}
	if len(files) == 0 {
		return ""
	}
	return rp.rescueFiles(ctx, c, files, "tt task merge", r)
}

// someOf names the first of many paths, and how many others there are.
func someOf(paths []string) stick.Words {
	const most = 5
	if len(paths) <= most {
		return stick.Names(paths, most)
	}
	return stick.Names(paths[:most], most) + " and " + stick.Count(len(paths)-most, "other file")
}

// filesToKeep lists the files of a worktree that the project's patterns name and git ignores, without those
// that the room's checkout has just so; and the repositories in the worktree in which the patterns may name
// something. No rescue can hold one.
func (rp *Repo) filesToKeep(ctx context.Context, c CleanupIntent) (files, repositories []string, err error) {
	if _, err := os.Lstat(c.Path); err != nil {
		return nil, nil, nil
	}

	tg, err := rp.ReadTarget(ctx, c.Target)
	if err != nil {
		return nil, nil, err
	}

	_, w, err := rp.TaskSettings(ctx, tg.Head())
	if err != nil || len(w.Keep) == 0 {
		return nil, nil, err
	}

	here := rp.newHereFinder(c)
	files, repositories, err = rp.Git.IgnoredFiles(ctx, c.Path, literalPrefixes(w.Keep))
	named := matchAny(w.Keep)

	// tt's own files aren't anybody's work, and what the checkout has as well isn't lost.
	files = slices.DeleteFunc(files, func(f string) bool {
		return !named(f) || isOwnFile(f) || here.hasFile(f)
	})

	repositories = slices.DeleteFunc(repositories, func(dir string) bool {
		return !slices.ContainsFunc(w.Keep, func(p glob.Pattern) bool { return p.Meets(dir, false) })
	})
	return files, repositories, err
}

// hereFinder finds out what of a worktree the room's checkout has just so.
type hereFinder struct {
	checkout string // where the copies come from; empty if that isn't known, and then it has nothing
	worktree string
	left     int // how many files of directories it still compares
}

// newHereFinder returns what compares the worktree of a task that goes.
func (rp *Repo) newHereFinder(c CleanupIntent) *hereFinder {
	from, err := rp.filesCheckout(c.Target)
	if err != nil {
		from = ""
	}
	return &hereFinder{checkout: from, worktree: c.Path, left: maxCopies}
}

// hasFile reports whether the checkout has a file just as the worktree has it.
func (h *hereFinder) hasFile(name string) bool {
	if h.checkout == "" {
		return false
	}

	there, err := config.ReadFile(h.worktree, name, maxCopyFile)
	if err != nil {
		return false
	}

	here, err := config.ReadFile(h.checkout, name, maxCopyFile)
	return err == nil && bytes.Equal(here, there)
}

// hasPath reports whether the checkout has a file, or every file of a directory, whose path ends in a slash. Of a
// large directory it says no: a worktree gets copies of no more than [maxCopies] files.
func (h *hereFinder) hasPath(name string) bool {
	if !strings.HasSuffix(name, "/") {
		return h.hasFile(name)
	}

	root, err := os.OpenRoot(h.worktree)
	if err != nil {
		return false
	}
	defer root.Close()

	// The first file that differs ends the walk.
	err = fs.WalkDir(root.FS(), strings.TrimSuffix(name, "/"), func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}

		h.left--
		if h.left < 0 || !h.hasFile(file) {
			return errDiffers
		}
		return nil
	})
	return err == nil
}

// errDiffers ends a comparison of directories.
var errDiffers = errors.New("the checkout doesn't have it so")
