package roster

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

// anchor is where the sessions of a room keep their context files: one file for the primary, and a directory
// beside it with one file for each helper. All of it stays below the room's path, even if links or the names
// of sessions would lead elsewhere.
type anchor struct {
	room string // the room's directory
	file string // the primary's file, relative to it
}

// The default places of the primary's context file.
const (
	orgAnchor = ".ai/session-context.org" // if the workspace has a directory .ai
	ownDir    = ".talking-stick"
	ownAnchor = ownDir + "/session.md"
)

// anchorOf returns the anchor of a room: as configured, else at its default place.
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

// helperDir returns the directory of the helpers' files, relative to the room.
func (a anchor) helperDir() string { return strings.TrimSuffix(a.file, path.Ext(a.file)) + ".d" }

// relPath returns the file of a session, relative to the room. context is empty for the primary.
func (a anchor) relPath(context string) string {
	if context == "" {
		return a.file
	}
	return a.helperDir() + "/" + context + path.Ext(a.file)
}

// absPath returns the absolute path of a session's file.
func (a anchor) absPath(context string) string {
	return filepath.Join(a.room, filepath.FromSlash(a.relPath(context)))
}

// lastWritten returns when the primary's file was last written. ok is false if there is none.
func (a anchor) lastWritten() (at stick.Time, ok bool) {
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

// hasFile reports whether the file of a session exists.
func (a anchor) hasFile(context string) bool {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return false
	}
	defer root.Close()

	_, err = root.Lstat(a.relPath(context))
	return err == nil
}

// takenNames returns the names of the helpers' files that exist.
func (a anchor) takenNames() []string {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return nil
	}
	defer root.Close()

	// There are none if there is no such directory.
	entries, _ := fs.ReadDir(root.FS(), a.helperDir())
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(a.file)))
	}

	return names
}

// headerLine returns the first line of a context file that tt makes. It names the session's context, or the
// primary.
func headerLine(context string, agent stick.AgentID) string {
	if context != "" {
		return context + "\n"
	}
	return string(agent) + "\n"
}

// beginFile makes the file of a session, with its header. An existing file keeps its content, and counts as
// written at now.
func (a anchor) beginFile(context string, agent stick.AgentID, now stick.Time) error {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return err
	}
	defer root.Close()

	rel := a.relPath(context)
	if err := root.MkdirAll(path.Dir(rel), 0o755); err != nil {
		return err
	}

	// Without an ignore file, git would show the notes of sessions as changes of the project.
	if a.file == ownAnchor {
		ignore := "# made by tt: the notes of sessions stay on this machine\n/.gitignore\n/session.md*\n/session.d/\n"
		if err := createFile(root, ownDir+"/.gitignore", ignore); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}

	// A session that ends may remove the file between the two attempts.
	for range 3 {
		if err = createFile(root, rel, headerLine(context, agent)); !errors.Is(err, fs.ErrExist) {
			return err
		}

		t := now.Go()
		if err = root.Chtimes(rel, t, t); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}

	return err
}

// createFile makes a file. It fails with [fs.ErrExist] if there is one.
func createFile(root *os.Root, name, text string) error {
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}

	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// contextRemoval is a session that has ended, and may leave a context file to remove.
type contextRemoval struct {
	context     string
	wrapped     bool                   // the agent has wrapped up, and needs the file no more
	isOwnHeader func(line string) bool // reports whether tt wrote this first line
	isTaken     func() bool            // reports whether another session uses the file by now
}

// removalResult is what happened to the file of a session that has ended.
type removalResult string

const (
	fileRemoved removalResult = "removed"
	fileForeign removalResult = "foreign" // tt didn't make it
	fileTaken   removalResult = "taken"   // another session uses it by now
	fileStays   removalResult = ""        // it has notes, it can't be removed, or there is none
)

// removeEnded removes the file of a session that was wrapped up. If the session just ended, it removes the
// file only if nothing follows the header. The configuration may name any file, so it only removes one whose
// first line tt wrote.
//
// Another session may begin with the file as soon as this one has ended. So removeEnded renames the file
// first, and then asks whether another session uses it. If none does, the next one makes a new file; if one
// does, it gets the file back. If the process is killed in between, the file remains under its other name.
func (a anchor) removeEnded(o contextRemoval) removalResult {
	root, err := os.OpenRoot(a.room)
	if err != nil {
		return fileStays
	}
	defer root.Close()

	rel := a.relPath(o.context)

	// Several sessions may end at the same time, so each gets a name of its own.
	aside := rel + ".ended-" + store.NewID()
	if _, err := root.Lstat(rel); err != nil {
		return fileStays
	}

	judge := func(name string) removalResult {
		line, bare, ok := firstLine(root, name)
		switch {
		case !ok || !o.isOwnHeader(line):
			return fileForeign
		case !o.wrapped && !bare:
			return fileStays
		}
		return fileRemoved
	}

	// What stays anyway isn't renamed.
	if as := judge(rel); as != fileRemoved {
		return as
	}

	if root.Rename(rel, aside) != nil {
		return fileStays
	}

	// Somebody may have written to the file before it was renamed.
	as := judge(aside)
	if as == fileRemoved && o.isTaken() {
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
		// This fails, as it should, while the directory has other files.
		_ = root.Remove(a.helperDir())
	}

	return fileRemoved
}

// restoreFile renames a file back to its place. If there is another file by now, both stay.
func restoreFile(root *os.Root, aside, rel string) {
	// A link, unlike a rename, never replaces a file that is there by now.
	err := root.Link(aside, rel)
	if err == nil {
		_ = root.Remove(aside)
		return
	}

	// Where the file system has no hard links, it is renamed, unless there is another file by now.
	_, there := root.Lstat(rel)
	if !errors.Is(err, fs.ErrExist) && errors.Is(there, fs.ErrNotExist) {
		_ = root.Rename(aside, rel)
	}
}

// firstLine returns the first line of a file. bare is true if it is the only one.
func firstLine(root *os.Root, rel string) (line string, bare, ok bool) {
	f, err := config.Open(root, rel)
	if err != nil {
		return "", false, false
	}
	defer f.Close()

	// The file may be anything, of any size. Only its first line matters.
	b, err := io.ReadAll(io.LimitReader(f, maxHeader))
	line, rest, ended := strings.Cut(string(b), "\n")
	return line, rest == "", err == nil && ended
}

// maxHeader is more bytes than any first line of a context file has.
const maxHeader = 512
