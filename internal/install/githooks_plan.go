package install

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"talkingstick/internal/confedit"
	"talkingstick/stick"
)

// hookChange puts a hook of ours into its place or takes it away. What is there by others is moved
// beside it as it is, link or file, and comes back by the same way.
type hookChange struct {
	file  string
	text  string // the hook, as shipped
	have  []byte // ours, as it is there now
	want  string // as it is to be; empty when it is to go
	state int    // what was there when the change was planned
	aside bool   // what is there is to be moved aside
	back  bool   // what was moved aside goes back to its place
	made  bool   // the directory is made for it, or was
	kill  func(string)
}

// beside is where a hook lies that was there before ours.
func beside(file string) string { return file + confedit.BackupSuffix }

func (c *hookChange) pending() bool { return string(c.have) != c.want || c.back }

// diff shows the hook, and not what is moved: that stays as it is.
func (c *hookChange) diff() string {
	d := confedit.Change{Path: c.file, Exists: c.have != nil, Before: c.have, After: []byte(c.want), Delete: c.want == ""}
	if c.have == nil && c.want == "" {
		return ""
	}
	return d.Diff()
}

// InstallGit plans the hooks of a repository. It writes nothing. It fails where the repository's hooks
// aren't its own.
func InstallGit(t Target, r Repository) ([]FileChange, error) {
	dir, err := t.hooksDir(r)
	if err != nil {
		return nil, err
	}
	_, err = os.Stat(dir)
	made := errors.Is(err, os.ErrNotExist)
	var steps []FileChange
	for _, h := range gitHooks {
		c := &hookChange{file: filepath.Join(dir, h.name), text: h.text, made: made, kill: t.Kill}
		s := FileChange{Harness: Git, What: h.name, File: c.file}
		if c.state, c.have, err = hookAt(c.file, h.text); err != nil {
			return nil, explain(err)
		}
		kept, err := keepsAnother(c)
		if err != nil {
			return nil, explain(err)
		}
		switch {
		case c.state == editedHook:
			s.State, s.Note = Kept, "somebody edited it; it stays as it is"
		case c.state == otherHook && kept:
			s.State, s.Note = Kept, "a hook from before lies beside it already, as "+filepath.Base(beside(c.file))+"; remove the one that isn't needed"
		default:
			c.made = c.made || bytes.Contains(c.have, []byte(madeDir))
			c.want, c.aside = t.stub(h.text, c.made), c.state == otherHook
			if c.aside {
				s.Note = "the hook that is there is kept beside it, and runs after it"
				c.have = nil
			}
			s.hook, s.State = c, New
			switch {
			case !c.pending():
				s.State = There
			case c.state != noHook:
				s.State = Changed
			}
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// keepsAnother tells whether a hook lies beside ours that isn't the one which is to go there. A tool that
// writes its hooks anew leaves the same one there twice.
func keepsAnother(c *hookChange) (bool, error) {
	info, err := os.Lstat(beside(c.file))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil || c.have == nil || !info.Mode().IsRegular():
		return true, err
	}
	b, err := os.ReadFile(beside(c.file))
	return !bytes.Equal(b, c.have), err
}

// UninstallGit plans how a repository's hooks become what they were. It looks in both places where
// they may have been put: core.hooksPath may have changed since.
func UninstallGit(t Target, r Repository) ([]FileChange, error) {
	var dirs []string
	at, refused := t.hooksDir(r)
	if refused == nil {
		dirs = append(dirs, at)
	}
	if r.Git == "" || r.Bare {
		return nil, refused
	}
	if usual := filepath.Join(r.Git, "hooks"); usual != at && inside(usual, r.Git) {
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
			if s.State != Absent || dir == dirs[0] {
				steps = append(steps, s)
			}
		}
	}
	return steps, nil
}

// removeHook plans the end of one hook.
func (t Target) removeHook(file, text string) (s FileChange, err error) {
	c := &hookChange{file: file, text: text, kill: t.Kill}
	s = FileChange{Harness: Git, What: filepath.Base(file), File: file, State: Absent}
	if c.state, c.have, err = hookAt(file, text); err != nil {
		return s, explain(err)
	}
	_, err = os.Lstat(beside(file))
	c.back, c.made = err == nil, bytes.Contains(c.have, []byte(madeDir))
	switch {
	case c.state == editedHook:
		s.State, s.Note = Kept, "somebody edited it; it stays as it is"
	case c.state == otherHook && c.back:
		s.State, s.Note = Kept, "it isn't ours; a hook from before lies beside it, as "+filepath.Base(beside(file))
	case c.state == ourHook || c.state == noHook && c.back:
		s.State, s.hook = Removed, c
		if c.back {
			s.Note = "the hook from before comes back"
		}
	}
	return s, nil
}

// write makes the change. A process that ends meanwhile leaves what doing it again completes.
func (c *hookChange) write() error {
	if !c.pending() {
		return nil
	}
	state, have, err := hookAt(c.file, c.text)
	if err != nil {
		return err
	}
	if state != c.state || c.state == ourHook && !bytes.Equal(have, c.have) {
		return &confedit.ChangedError{File: c.file}
	}
	temp := filepath.Join(filepath.Dir(c.file), "."+filepath.Base(c.file)+".talking-stick")
	if c.want != "" {
		err = c.put(temp)
	} else {
		err = c.drop(temp)
	}
	if err != nil {
		_ = os.Remove(temp) // the first error is the one to tell
		return stick.Errorf(stick.CodeConfigUnwritable, "%s can't be changed: %w", stick.Line(c.file), cause(err)).With("path", c.file).
			Hintf("see who may write there, and run the command again")
	}
	return nil
}

// put puts our hook there. It is whole, under another name, before what is there makes room.
func (c *hookChange) put(temp string) error {
	if err := os.MkdirAll(filepath.Dir(c.file), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(temp, []byte(c.want), 0o755); err != nil {
		return err
	}
	c.point("before aside")
	if c.aside {
		if err := os.Rename(c.file, beside(c.file)); err != nil {
			return err
		}
	}
	c.point("before hook")
	err := os.Rename(temp, c.file)
	c.point("after hook")
	return err
}

// drop takes our hook away, and gives its place back to what was there before.
func (c *hookChange) drop(temp string) error {
	_ = os.Remove(temp) // of an install that didn't end
	var err error
	if c.back {
		err = os.Rename(beside(c.file), c.file)
	} else {
		err = os.Remove(c.file)
	}
	if err == nil && c.made {
		_ = os.Remove(filepath.Dir(c.file)) // it stays while something is in it
	}
	c.point("after drop")
	return err
}

func (c *hookChange) point(name string) {
	if c.kill != nil {
		c.kill(name)
	}
}

// cause is what the system said, without the names of files.
func cause(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}

// GitStatus is how a repository's hooks stand to us.
type GitStatus struct {
	Path      string   `json:"path,omitempty"`    // the directory of the hooks
	Installed string   `json:"installed"`         // all, partly or no
	Missing   []string `json:"missing,omitempty"` // what lacks or is there in another form, when it is installed partly
	Problem   string   `json:"problem,omitempty"` // why nothing can be put there
}

// CheckGit tells how a repository's hooks stand to us. It changes nothing.
func CheckGit(t Target, r Repository) GitStatus {
	s := GitStatus{Installed: No}
	steps, err := InstallGit(t, r)
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Path = filepath.Dir(steps[0].File)
	for _, step := range steps {
		if step.State != There {
			s.Missing = append(s.Missing, step.What)
		}
	}
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
