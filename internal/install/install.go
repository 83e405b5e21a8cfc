// Package install connects harnesses and git to tt, and disconnects them: the skill, hooks, the MCP server
// and plugins, each in the harness's own files and format. Every byte that others wrote there stays. What
// is particular to one harness is in its row in package harness; here no harness has a name.
//
// See docs/decisions/install-and-settings-files.md.
package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// Target is what to install, and where.
type Target struct {
	Home    string
	Project string // the workspace's root; empty for the user's own configuration
	TT      string // the program: an absolute path that an upgrade keeps
	Wrapper string // a script that starts it under its name, as npm has one; empty where there is none
	DataDir string
	Default string // the data directory of a process without the variables that name another
	Getenv  func(string) string
	Kill    func(point string) // for tests

	plugin bool // it is a plugin, which may come beside what install writes
}

// onPath is what a project's files call the program. They are for everybody who works there, and each machine
// has it in another place, or not at all.
const onPath = "tt"

// programPath is what the files of this level call the program.
func (t Target) programPath() string {
	if t.Project != "" {
		return onPath
	}
	return t.TT
}

// FileChange is a planned change of one file.
type FileChange struct {
	Harness string      `json:"harness"` // or project, for what all harnesses read
	What    stick.Words `json:"what"`    // what the file holds of tt
	File    string      `json:"file"`
	Target  string      `json:"target,omitempty"` // where the file really lies, if a link leads there
	State   string      `json:"state"`            // new, changed, there, removed, absent or kept
	Note    stick.Words `json:"note,omitempty"`   // what to know about it
	Diff    string      `json:"diff,omitempty"`   // with --print: the change

	change *confedit.Change
	hook   *hookChange // instead of change, of a hook of git's
	chain  *chain      // instead of change, of hooks that run those of a project
	dir    bool        // instead of change: File is a directory to make
	npm    []byte      // the entry of the npm program that it removes
	before func()      // what to note before change is made
	after  func()      // and what when it was
}

// The states of a change.
const (
	New     = "new"     // the file is made
	Changed = "changed" // the file exists and is changed
	There   = "there"   // everything is there already
	Removed = "removed"
	Absent  = "absent" // there is nothing to remove
	Kept    = "kept"   // it stays: others need it, or somebody has edited it
)

// Show fills in Diff.
func (s *FileChange) Show() {
	switch {
	case s.change != nil:
		s.Diff = s.change.Diff()
	case s.hook != nil:
		s.Diff = s.hook.diffText()
	}
}

// Pending reports whether there is anything to change.
func (s FileChange) Pending() bool {
	return s.dir && s.State == New || s.change != nil && s.change.Changed() ||
		s.hook != nil && s.hook.hasChanges() || s.chain != nil && s.chain.hasChanges()
}

// FoundHarnesses lists the harnesses that were used on this machine: those with a configuration.
func FoundHarnesses(t Target) []string {
	var found []string
	for _, row := range harness.Rows {
		if info, err := os.Stat(t.configDir(row.Setup)); err == nil && info.IsDir() {
			found = append(found, row.Name)
		}
	}

	return found
}

// configDir returns the directory of a harness's configuration.
func (t Target) configDir(s harness.Setup) string {
	if s.ConfigEnv != "" {
		if dir := t.Getenv(s.ConfigEnv); dir != "" {
			return dir
		}
	}

	return t.homePath(s.Config)
}

// homePath returns a path below the home directory. What is in .config follows XDG_CONFIG_HOME.
func (t Target) homePath(path string) string {
	if rest, ok := strings.CutPrefix(path, ".config/"); ok && filepath.IsAbs(t.Getenv("XDG_CONFIG_HOME")) {
		return resolveBelow(t.Getenv("XDG_CONFIG_HOME"), rest)
	}
	return resolveBelow(t.Home, path)
}

// filePath returns where a harness's file lies at this level; empty where it has none.
func (t Target) filePath(s harness.Setup, p harness.Levels) string {
	if t.Project != "" {
		return resolveBelow(t.Project, p.Project)
	}
	if s.ConfigEnv != "" && t.Getenv(s.ConfigEnv) != "" {
		if rest, ok := strings.CutPrefix(p.User, s.Config+"/"); ok {
			return resolveBelow(t.configDir(s), rest)
		}
	}

	return t.homePath(p.User)
}

// serverFile returns the file in which a harness keeps its MCP servers at this level.
func (t Target) serverFile(s harness.Setup) string {
	file := t.filePath(s, s.Server)
	if s.ServerMoves && t.Project == "" && t.Getenv(s.ConfigEnv) != "" {
		file = resolveBelow(t.configDir(s), s.Server.User)
	}
	if s.ServerJSONC {
		return existingFile(file, file+"c")
	}

	return file
}

func resolveBelow(dir, path string) string {
	if path == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// Install plans the changes that connect harnesses to tt. It writes nothing. It fails with
// [stick.CodeConfigMalformed] for a file that doesn't parse, before anything is changed.
func Install(t Target, names []string) ([]FileChange, error) { return makePlan(t, names, false) }

// Uninstall plans the changes that undo [Install].
func Uninstall(t Target, names []string) ([]FileChange, error) { return makePlan(t, names, true) }

// editFiles edits files for a target. The copies lie in the data directory, not in the tree: they may hold
// secrets, and a project's files are for everybody.
func (t Target) editFiles() confedit.Files {
	return confedit.Files{Home: t.Home, Backups: filepath.Join(t.DataDir, "backups"), Kill: t.Kill}
}

// Apply makes the changes of a plan, one file after the other. A failure leaves the earlier ones made;
// doing it again makes the rest.
func Apply(steps []FileChange) error {
	for _, s := range steps {
		if s.hook != nil {
			if err := s.hook.writeHook(); err != nil {
				return explainError(err)
			}
		}

		if s.chain != nil {
			if err := s.chain.writeChain(); err != nil {
				return err
			}
		}

		if s.dir {
			if err := os.MkdirAll(s.File, 0o700); err != nil {
				return explainError(&confedit.FileError{File: s.File, Why: "can't be made", Err: err})
			}
		}

		if s.change == nil {
			continue
		}
		if s.before != nil {
			s.before()
		}
		if err := s.change.Write(); err != nil {
			return explainError(err)
		}
		if s.after != nil {
			s.after()
		}
		if dir := filepath.Dir(s.File); s.State == Removed && s.What == skill && filepath.Base(dir) == harness.SkillName {
			// Remove fails, as it should, if the directory holds something else.
			_ = os.Remove(dir)
		}
	}

	return nil
}

// RemovedNpmEntries returns the entries of the npm program that a plan removes, by file.
func RemovedNpmEntries(steps []FileChange) map[string]json.RawMessage {
	gone := map[string]json.RawMessage{}
	for _, s := range steps {
		if s.npm != nil {
			gone[s.File] = s.npm
		}
	}

	return gone
}
