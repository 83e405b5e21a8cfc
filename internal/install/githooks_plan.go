package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"talkingstick/internal/confedit"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// hookChange installs a hook of ours or removes it. Somebody else's hook at that path, link or file, is
// moved beside it, and moved back when ours goes.
type hookChange struct {
	file  string
	text  string // the hook, as shipped
	have  []byte // our hook as it is now
	want  string // what our hook becomes; empty when it goes
	state int    // what lay there when the change was planned
	aside bool   // somebody else's hook has to be moved aside
	back  bool   // a hook that was moved aside comes back
	made  bool   // we made the directory for it
	over  bool   // it replaces a hook of ours that only runs the project's
	kill  func(string)
}

// backupOf is where a hook lies that was moved aside for ours.
func backupOf(file string) string { return file + confedit.BackupSuffix }

func (c *hookChange) hasChanges() bool { return string(c.have) != c.want || c.back }

// diffText shows our hook only: a hook that is moved doesn't change.
func (c *hookChange) diffText() string {
	d := confedit.Change{
		Path: c.file, Exists: c.have != nil, Before: c.have, After: []byte(c.want), Delete: c.want == "",
	}

	if c.have == nil && c.want == "" {
		return ""
	}
	return d.Diff()
}

// InstallGit plans the hooks of a repository. It writes nothing. It fails where the directory of hooks
// isn't the repository's own.
func InstallGit(t Target, r Repository) ([]FileChange, error) {
	dir, err := t.hooksDir(r)
	if err != nil {
		return nil, err
	}

	chain, err := newChain(r)
	if err != nil {
		return nil, err
	}

	_, err = os.Stat(dir)

	// A directory that we make goes again when its hooks go.
	made := errors.Is(err, os.ErrNotExist) && chain == nil
	var steps []FileChange

	for _, h := range gitHooks {
		c := &hookChange{file: filepath.Join(dir, h.name), text: h.text, made: made, kill: t.Kill}
		s := FileChange{Harness: Git, What: stick.Words(h.name), File: c.file}
		if c.state, c.have, err = hookAt(c.file, h.text); err != nil {
			return nil, explainError(err)
		}
		if chain != nil && chain.isChained(h.name) {
			c.state, c.have, c.over = noHook, nil, true
		}

		// A hook that has to be asked for is only kept up to date.
		if h.asked && !r.PrePush && c.state != ourHook && c.state != editedHook {
			continue
		}

		kept, err := keepsAnother(c)
		if err != nil {
			return nil, explainError(err)
		}

		switch {
		case c.state == editedHook:
			s.State, s.Note = Kept, "somebody has edited it, so it stays"
		case c.state == otherHook && kept:
			s.State, s.Note = Kept, stick.Wordsf(
				"an earlier hook is already kept beside it, as %s; remove the one you don't need",
				filepath.Base(backupOf(c.file)),
			)
		default:
			c.made = c.made || bytes.Contains(c.have, []byte(madeDir))

			// That counts for a hook, too, that is asked for later.
			made = c.made
			c.want, c.aside = t.hookText(h.text, c.made), c.state == otherHook
			if c.aside {
				s.Note = "the present hook is kept beside it, and runs after it"
				c.have = nil
			}

			s.hook, s.State = c, New
			switch {
			case !c.hasChanges():
				s.State = There
			case c.state != noHook:
				s.State = Changed
			}
		}

		steps = append(steps, s)
	}

	if chain != nil {
		// This step is the last one: git looks there when all hooks are in place.
		steps = append(steps, chain.planStep())
	}

	return steps, nil
}

// keepsAnother reports whether the place beside our hook is taken by a different hook than the one to move
// there. A tool that writes its hook again leaves the same hook in both places.
func keepsAnother(c *hookChange) (bool, error) {
	info, err := os.Lstat(backupOf(c.file))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil || c.have == nil || !info.Mode().IsRegular():
		return true, err
	}

	// The same hook in both places is no other one.
	b, err := confedit.Read(backupOf(c.file))
	return !bytes.Equal(b, c.have), err
}

// UninstallGit plans how a repository gets its old hooks back. Ours may lie in two places, because
// core.hooksPath may have changed since.
func UninstallGit(t Target, r Repository) ([]FileChange, error) {
	if steps, ok, err := uninstallChain(r); ok || err != nil {
		return steps, err
	}

	var dirs []string
	at, refused := t.hooksDir(r)
	if refused == nil {
		dirs = append(dirs, at)
	}
	if r.Git == "" || r.Bare {
		return nil, refused
	}
	if usual := filepath.Join(r.Git, "hooks"); usual != at && isInside(usual, r.Git) {
		dirs = append(dirs, usual)
	}
	if len(dirs) == 0 {
		return nil, refused
	}

	var steps []FileChange
	for _, dir := range dirs {
		for _, h := range gitHooks {
			s, err := t.removeHook(filepath.Join(dir, h.name), h.text)
			if err != nil {
				return nil, err
			}
			if s.State != Absent || dir == dirs[0] && !h.asked {
				steps = append(steps, s)
			}
		}
	}

	return steps, nil
}

// uninstallChain plans how a repository whose hooks lie in our directory gets its own back. ok is false if
// there is none.
func uninstallChain(r Repository) (steps []FileChange, ok bool, err error) {
	if r.Git == "" || r.Bare {
		return nil, false, nil
	}

	c := &chain{repo: r, theirs: r.readTheirs(), remove: true}
	if c.theirs == "" {
		return nil, false, nil
	}

	return []FileChange{c.planStep()}, true, nil
}

// removeHook plans the removal of one hook.
func (t Target) removeHook(file, text string) (s FileChange, err error) {
	c := &hookChange{file: file, text: text, kill: t.Kill}
	s = FileChange{Harness: Git, What: stick.Wordsf("%s", filepath.Base(file)), File: file, State: Absent}
	if c.state, c.have, err = hookAt(file, text); err != nil {
		return s, explainError(err)
	}

	// A hook that was there before ours lies beside it.
	_, err = os.Lstat(backupOf(file))
	c.back, c.made = err == nil, bytes.Contains(c.have, []byte(madeDir))
	switch {
	case c.state == editedHook:
		s.State, s.Note = Kept, "somebody has edited it, so it stays"
	case c.state == otherHook && c.back:
		s.State, s.Note = Kept, stick.Wordsf(
			"it isn't ours; an earlier hook is kept beside it, as %s", filepath.Base(backupOf(file)),
		)
	case c.state == ourHook || c.state == noHook && c.back:
		s.State, s.hook = Removed, c
		if c.back {
			s.Note = "the earlier hook comes back"
		}
	}

	return s, nil
}

// writeHook makes the change. If the process dies halfway, doing it again completes the change.
func (c *hookChange) writeHook() error {
	if !c.hasChanges() {
		return nil
	}

	state, have, err := hookAt(c.file, c.text)
	if err != nil {
		return err
	}

	// What was planned for another state of the file isn't done.
	if !c.over && state != c.state || c.state == ourHook && !bytes.Equal(have, c.have) {
		return &confedit.ChangedError{File: c.file}
	}

	// A rename within one directory leaves no moment with half a hook.
	temp := filepath.Join(filepath.Dir(c.file), "."+filepath.Base(c.file)+".talking-stick")
	if c.want != "" {
		err = c.putHook(temp)
	} else {
		err = c.dropHook(temp)
	}
	if err != nil {
		// The first error is the one to report.
		_ = os.Remove(temp)
		return stick.Errorf(stick.CodeConfigUnwritable, "%s can't be changed: %w", c.file, plainfile.CauseOf(err)).
			With("path", c.file).
			Hintf("check who may write there, and run the command again")
	}

	return nil
}

// putHook installs our hook. It is complete under another name before the present hook is moved aside.
func (c *hookChange) putHook(temp string) error {
	if err := os.MkdirAll(filepath.Dir(c.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(temp, []byte(c.want), 0o755); err != nil {
		return err
	}

	// Between the two renames git finds no hook; the same install again completes the change.
	c.killPoint("before aside")
	if c.aside {
		if err := os.Rename(c.file, backupOf(c.file)); err != nil {
			return err
		}
	}

	c.killPoint("before hook")
	err := os.Rename(temp, c.file)
	c.killPoint("after hook")

	return err
}

// dropHook removes our hook, and moves the earlier one back.
func (c *hookChange) dropHook(temp string) error {
	// An install that died may have left it.
	_ = os.Remove(temp)
	var err error
	if c.back {
		err = os.Rename(backupOf(c.file), c.file)
	} else {
		err = os.Remove(c.file)
	}
	if err == nil && c.made {
		// Remove fails, as it should, while something is in the directory.
		_ = os.Remove(filepath.Dir(c.file))
	}

	c.killPoint("after drop")
	return err
}

func (c *hookChange) killPoint(name string) {
	if c.kill != nil {
		c.kill(name)
	}
}

// GitStatus is how far our hooks are installed in a repository.
type GitStatus struct {
	Path      string        `json:"path,omitempty"`    // the directory of the hooks
	Installed string        `json:"installed"`         // all, partly or no
	Hooks     []stick.Words `json:"hooks"`             // those that are installed
	Missing   []stick.Words `json:"missing,omitempty"` // what is missing or outdated, when they are installed partly
	Problem   stick.Words   `json:"problem,omitempty"` // why none can be installed
}

// CheckGit reports how far our hooks are installed in a repository. It changes nothing.
func CheckGit(t Target, r Repository) GitStatus {
	s := GitStatus{Installed: No, Hooks: []stick.Words{}}
	steps, err := InstallGit(t, r)
	if err != nil {
		s.Problem = stick.AsError(err).Words()
		return s
	}

	s.Path = filepath.Dir(steps[0].File)
	for _, step := range steps {
		if step.State != There {
			s.Missing = append(s.Missing, step.What)
		} else {
			s.Hooks = append(s.Hooks, step.What)
		}
	}

	// Our hooks may be there although they are outdated, or edited by somebody.
	known := slices.ContainsFunc(steps, func(c FileChange) bool {
		return c.State == There || c.hook == nil && c.State == Kept || c.hook != nil && c.hook.state == ourHook
	})

	switch {
	case len(s.Missing) == 0:
		s.Installed = All
	case known:
		s.Installed = Partly
	default:
		s.Missing = nil
	}

	return s
}
