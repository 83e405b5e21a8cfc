package repository

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// The limits of what a new worktree gets copies of.
const (
	maxCopies   = 1000
	maxCopied   = 50 << 20 // bytes, together
	maxLeftOut  = 20       // how many files are named that weren't copied
	maxCopyFile = 10 << 20 // bytes
)

// CopiedFiles says what a new worktree got copies of.
type CopiedFiles struct {
	// the files, relative to the room's checkout and to the worktree alike
	Copied  []string      `json:"copied,omitempty"`
	LeftOut []stick.Words `json:"left_out,omitempty"` // what the patterns match and tt didn't copy, with the reason
}

// fileCopier is the copying of files into one worktree.
type fileCopier struct {
	CopiedFiles
	from, to *os.Root
	size     int64 // of what was copied
	unnamed  int   // how many were left out without being named
}

// copyFiles copies files of the room's checkout that git ignores into a new worktree: those that the
// project's patterns name, in its settings or in [includeFile]. Links are followed only inside of the
// checkout. What can't be copied is named; it doesn't keep the task from beginning.
func (rp *Repo) copyFiles(ctx context.Context, m Plan) CopiedFiles {
	var c fileCopier
	c.copyNamed(ctx, rp, m)

	if c.unnamed > 0 {
		c.LeftOut = append(c.LeftOut, stick.Count(c.unnamed, "other file"))
	}
	return c.CopiedFiles
}

// copyNamed copies the files that the project's patterns name.
func (c *fileCopier) copyNamed(ctx context.Context, rp *Repo, m Plan) {
	from, err := rp.filesCheckout(m.Task.Integration)
	if err != nil && len(m.worker.Copy) > 0 {
		c.LeftOut = append(c.LeftOut, stick.Wordsf("all files of [worker] copy: %s", stick.AsError(err)))
	}
	if err != nil {
		return
	}

	named := c.listNamed(ctx, rp, m, from)
	if len(named) == 0 {
		return
	}

	// Both roots are opened once, and no path leads out of them.
	files, linked, err := rp.filesToCopy(ctx, m, named)
	if err == nil {
		c.from, err = os.OpenRoot(from)
	}
	if err == nil {
		defer c.from.Close()

		c.to, err = os.OpenRoot(m.Path)
	}

	if err != nil {
		c.LeftOut = append(c.LeftOut, stick.Wordsf("all files that git ignores: %s", stick.AsError(err)))
		return
	}
	defer c.to.Close()

	// Each file that can't be copied is named, and doesn't keep the others back.
	for _, name := range files {
		c.copyFile(name)
	}

	for _, name := range linked {
		c.noteLeftOut(name, "a link of the branch lies in its way")
	}
}

// listNamed lists the files of the checkout from that git ignores and the project's patterns name. If one
// list of patterns can't be followed, that is named, and the other still holds.
func (c *fileCopier) listNamed(ctx context.Context, rp *Repo, m Plan, from string) []string {
	named, err := rp.filesNamedBySettings(ctx, from, m.worker.Copy)
	if err != nil {
		c.LeftOut = append(c.LeftOut, stick.Wordsf("all files of [worker] copy: %s", stick.AsError(err)))
	}

	included, err := rp.filesToInclude(ctx, from)
	if err != nil {
		c.LeftOut = append(c.LeftOut, stick.Wordsf("all files of %s: %s", includeFile, stick.AsError(err)))
	}

	// Both may name a file.
	have := map[string]bool{}
	return slices.DeleteFunc(append(named, included...), func(f string) bool {
		again := have[f]
		have[f] = true
		return again
	})
}

// filesNamedBySettings lists the files of a checkout that git ignores and patterns of the settings name.
func (rp *Repo) filesNamedBySettings(ctx context.Context, from string, patterns []glob.Pattern) ([]string, error) {
	if len(patterns) == 0 {
		return nil, nil
	}

	all, _, err := rp.Git.IgnoredFiles(ctx, from, literalPrefixes(patterns))
	named := matchAny(patterns)
	return slices.DeleteFunc(all, func(f string) bool { return !named(f) }), err
}

// filesToCopy returns those of the files of the room's checkout that git ignores in the new worktree, too:
// there they would be somebody's changes otherwise. linked are those that lie beyond a link there: git
// refuses to speak of them.
func (rp *Repo) filesToCopy(ctx context.Context, m Plan, named []string) (files, linked []string, err error) {
	// The worktrees of other tasks lie in the checkout, too, and tt's own files are never copied.
	dir := path.Dir(m.Task.Worktree) + "/"
	named = slices.DeleteFunc(named, func(f string) bool { return isOwnFile(f) || strings.HasPrefix(f, dir) })

	// git fails for the whole list if one path lies beyond a link.
	named = slices.DeleteFunc(named, func(f string) bool {
		beyond := beyondLink(m.Path, f)
		if beyond {
			linked = append(linked, f)
		}
		return beyond
	})

	files, err = rp.Git.WouldIgnore(ctx, m.Path, named)
	return files, linked, err
}

// isOwnFile reports whether a file of a checkout is one of tt's own.
func isOwnFile(name string) bool {
	return name == core.TaskFileName || strings.HasPrefix(name, ".talking-stick/")
}

// beyondLink reports whether one of the directories of a file below top is a link.
func beyondLink(top, file string) bool {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(dir))); err == nil &&
			info.Mode()&os.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// literalPrefixes returns what patterns begin with up to their first wildcard, nil if one of them may match
// everywhere.
func literalPrefixes(patterns []glob.Pattern) (dirs []string) {
	for _, p := range patterns {
		prefix := strings.Trim(p.Prefix(false), "/")
		if prefix == "" {
			return nil
		}

		dirs = append(dirs, prefix)
	}

	return dirs
}

// matchAny returns a function that reports whether one of the patterns matches a path.
func matchAny(patterns []glob.Pattern) func(path string) bool {
	return func(path string) bool {
		return slices.ContainsFunc(patterns, func(p glob.Pattern) bool { return p.Match(path, false) })
	}
}

func (c *fileCopier) copyFile(name string) {
	err := c.tryCopy(name)
	if err != nil {
		c.noteLeftOut(name, stick.Words(err.Error()))
		return
	}
	c.Copied = append(c.Copied, name)
}

// noteLeftOut notes that a file isn't copied.
func (c *fileCopier) noteLeftOut(name string, why stick.Words) {
	if len(c.LeftOut) < maxLeftOut {
		c.LeftOut = append(c.LeftOut, stick.Wordsf("%s: %s", name, why))
	} else {
		c.unnamed++
	}
}

// tryCopy copies a file, or returns why it isn't copied.
func (c *fileCopier) tryCopy(name string) (err error) {
	if len(c.Copied) >= maxCopies {
		return fmt.Errorf("more than %d files are too many", maxCopies)
	}

	in, err := config.Open(c.from, name)
	if err != nil {
		return plainfile.CauseOf(err)
	}
	defer in.Close()

	info, err := in.Stat()
	switch {
	case err != nil:
		return plainfile.CauseOf(err)
	case info.Size() > maxCopyFile:
		return fmt.Errorf("it is larger than %d MB", maxCopyFile>>20)
	case c.size+info.Size() > maxCopied:
		return fmt.Errorf("all files together are larger than %d MB", maxCopied>>20)
	}

	if err := c.to.MkdirAll(path.Dir(name), 0o755); err != nil {
		return plainfile.CauseOf(err)
	}

	// A file that the branch has is never replaced.
	out, err := c.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return plainfile.CauseOf(err)
	}

	// It may have grown.
	n, err := io.Copy(out, io.LimitReader(in, maxCopyFile+1))
	if err = errors.Join(err, out.Close()); err == nil && n > maxCopyFile {
		err = fmt.Errorf("it is larger than %d MB", maxCopyFile>>20)
	}
	if err != nil {
		// Half a file would be worse than none.
		_ = c.to.Remove(name)
		return plainfile.CauseOf(err)
	}

	c.size += n
	return nil
}
