package engine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"talkingstick/internal/config"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// anchor is where the sessions of a room keep their context: one file for the primary, and a directory
// beside it with one for each other. All of it lies below the room's path, whatever links lead away
// from there and whatever a session calls itself.
type anchor struct {
	room string // the directory
	file string // of the primary, relative to it
}

// The places of the primary's context file.
const (
	orgAnchor = ".ai/session-context.org" // where the workspace keeps such things already
	ownDir    = ".talking-stick"
	ownAnchor = ownDir + "/session.md"
)

func anchorOf(room string, c config.Config) anchor {
	a := anchor{room, ownAnchor}
	if info, err := os.Stat(filepath.Join(room, path.Dir(orgAnchor))); err == nil && info.IsDir() {
		a.file = orgAnchor
	}
	if c.Session.Anchor != "" {
		a.file = path.Clean(filepath.ToSlash(c.Session.Anchor))
	}
	return a
}

// dir is the directory of the other sessions' files.
func (a anchor) dir() string { return strings.TrimSuffix(a.file, path.Ext(a.file)) + ".d" }

// rel is the file of a session, relative to the room.
func (a anchor) rel(context string) string {
	if context == "" {
		return a.file
	}
	return a.dir() + "/" + context + path.Ext(a.file)
}

// path is the file of a session.
func (a anchor) path(context string) string {
	return filepath.Join(a.room, filepath.FromSlash(a.rel(context)))
}

// written tells when the primary's file was last written; ok is false when there is none.
func (a anchor) written() (at stick.Time, ok bool) {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return 0, false
	}
	defer root.Close()
	info, err := root.Stat(a.file)
	if err != nil || !info.Mode().IsRegular() {
		return 0, false
	}
	return stick.At(info.ModTime()), true
}

// has tells whether the file of a session is there.
func (a anchor) has(context string) bool {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Lstat(a.rel(context))
	return err == nil
}

// taken lists the names of context files that exist.
func (a anchor) taken() []string {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return nil
	}
	defer root.Close()
	entries, _ := fs.ReadDir(root.FS(), a.dir()) // none where there is no such directory
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(a.file)))
	}
	return names
}

// header is the first line of a context file that tt made: whose it is.
func header(context string, agent stick.AgentID) string {
	if context != "" {
		return context + "\n"
	}
	return string(agent) + "\n"
}

// begin makes the file of a session, with whose it is in its first line. One that is there stays as
// it is, and counts as written now.
func (a anchor) begin(context string, agent stick.AgentID, now stick.Time) error {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return err
	}
	defer root.Close()
	rel := a.rel(context)
	if err := root.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return err
	}
	if a.file == ownAnchor {
		ignore := "# by tt: what sessions keep here is theirs alone\n/.gitignore\n/session.md*\n/session.d/\n"
		if err := create(root, ownDir+"/.gitignore", ignore); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	for range 3 { // whoever ends may take away what was there a moment ago
		if err = create(root, rel, header(context, agent)); !errors.Is(err, fs.ErrExist) {
			return err
		}
		t := now.Go()
		if err = root.Chtimes(rel, t, t); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

func create(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// contextRemoval is a session that has ended, for what becomes of its file.
type contextRemoval struct {
	context string
	wrapped bool                   // the agent has wrapped it up
	made    func(line string) bool // whether a first line is one that tt writes
	taken   func() bool            // whether another session has begun with this file since
}

// What becomes of the file of a session that has ended.
type removalResult string

const (
	fileRemoved removalResult = "removed"
	fileForeign removalResult = "foreign" // there is one, and tt didn't make it
	fileTaken   removalResult = "taken"   // it is another session's by now
	fileStays   removalResult = ""        // it says something, or there is none
)

// end removes the file of a session that was wrapped up. Of one that just ended it removes only what
// says nothing beyond whose it is. The configuration may name any file, so that only one whose first
// line is by tt is removed.
//
// Another session may begin with the file at any moment since this one has ended. So the file is put
// aside first, and then it is asked whether one has: if not, the next one makes a file of its own, and if
// so, it gets the file back. When this is killed in between, the file is still there under its other name.
func (a anchor) end(o contextRemoval) removalResult {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return fileStays
	}
	defer root.Close()
	rel := a.rel(o.context)
	aside := rel + ".ended-" + store.NewID()
	if _, err := root.Lstat(rel); err != nil {
		return fileStays
	}
	judge := func(name string) removalResult {
		line, bare, ok := firstLine(root, name)
		switch {
		case !ok || !o.made(line):
			return fileForeign
		case !o.wrapped && !bare:
			return fileStays
		}
		return fileRemoved
	}
	if as := judge(rel); as != fileRemoved {
		return as
	}
	if root.Rename(rel, aside) != nil {
		return fileStays
	}
	as := judge(aside)
	if as == fileRemoved && o.taken() {
		as = fileTaken
	}
	if as != fileRemoved {
		restoreFile(root, aside, rel)
		return as
	}
	if root.Remove(aside) != nil {
		return fileStays
	}
	if o.context != "" {
		_ = root.Remove(a.dir()) // it fails while others are in it
	}
	return fileRemoved
}

// restoreFile puts a file back to its place. Where there is another one by now, both stay.
func restoreFile(root *os.Root, aside, rel string) {
	err := root.Link(aside, rel)
	if err == nil {
		_ = root.Remove(aside)
		return
	}
	if _, there := root.Lstat(rel); !errors.Is(err, fs.ErrExist) && errors.Is(there, fs.ErrNotExist) { // a file system without links
		_ = root.Rename(aside, rel)
	}
}

// firstLine is the first line of a file; bare says that it has no other.
func firstLine(root *os.Root, rel string) (line string, bare, ok bool) {
	f, err := config.Open(root, rel)
	if err != nil {
		return "", false, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxHeader))
	line, rest, ended := strings.Cut(string(b), "\n")
	return line, rest == "", err == nil && ended
}

// maxHeader is more than the first line of a context file ever has.
const maxHeader = 512
