package rescue

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"talkingstick/stick"
)

// Manifest says what a rescue is. It is the message of its commit.
type Manifest struct {
	ID        string            `json:"id"`                  // six characters of its start are enough
	At        stick.Time        `json:"at"`                  // when it was taken
	Top       string            `json:"checkout"`            // the top level of the checkout
	Common    string            `json:"git_common_dir"`      // of the repository
	Head      string            `json:"head"`                // the commit; empty on a branch without commits
	Branch    string            `json:"branch,omitempty"`    // what was checked out
	Operation map[string]string `json:"operation,omitempty"` // MERGE_HEAD and its like
	Facts
	Files   int       `json:"files"`            // of how many paths it holds something; a deletion counts
	Bytes   int64     `json:"bytes"`            // the size of that, with what was staged
	LeftOut []LeftOut `json:"left_out"`         // what it lacks
	Nested  []Nested  `json:"nested,omitempty"` // the rescues of repositories inside the checkout

	Needs []string `json:"-"` // the ids of the snapshots whose packs it needs beside its own
}

// state is the file "entries" of a rescue. Two rescues of the same state have the same.
type state struct {
	Head    string  `json:"head"`
	Entries []entry `json:"entries"` // sorted by path
}

// countFiles counts the paths of which the rescue holds something, be it that they were deleted.
func (s state) countFiles() (n int) {
	for _, e := range s.Entries {
		if !e.LeftOut || slices.ContainsFunc(e.Index, func(v version) bool { return v.Blob != "" }) {
			n++
		}
	}
	return n
}

// uncommittedPaths lists the paths of a state that git doesn't ignore. Without an index git finds every file
// of HEAD both deleted and untracked; then those that are as in HEAD don't count.
func (s state) uncommittedPaths(hasIndex bool) (paths []string) {
	for _, e := range s.Entries {
		isUnchanged := !hasIndex && e.isHead()
		if !e.Ignored && !isUnchanged {
			paths = append(paths, string(e.Path))
		}
	}
	return paths
}

// entry is how one path was.
type entry struct {
	Path    bytesText `json:"path"`
	Head    *version  `json:"head,omitempty"`  // in HEAD; nil if it wasn't there, or if the path was in conflict
	Index   []version `json:"index,omitempty"` // nil if it wasn't tracked
	Intent  bool      `json:"intent_to_add,omitempty"`
	Assume  bool      `json:"assume_unchanged,omitempty"`
	Skip    bool      `json:"skip_worktree,omitempty"`
	Ignored bool      `json:"ignored,omitempty"`
	Work    *workFile `json:"work,omitempty"`     // nil if it wasn't in the working tree
	LeftOut bool      `json:"left_out,omitempty"` // it was in the working tree, and isn't in the rescue
	Unsure  bool      `json:"unsure,omitempty"`   // only its file was looked at: HEAD and the index aren't known
}

// version is a file as git has it, in HEAD or in the index.
type version struct {
	Mode  string `json:"mode"` // as git writes it: 100644
	OID   string `json:"oid"`  // in the user's repository
	Stage int    `json:"stage,omitempty"`
	Blob  string `json:"blob,omitempty"` // the same bytes in the rescue; empty if they aren't there
}

func (v version) isSubmodule() bool { return v.Mode == modeSubmodule }

// workFile is a file or link in the working tree.
type workFile struct {
	Mode string      `json:"mode"`
	Perm fs.FileMode `json:"perm,omitempty"` // of a file
	Size int64       `json:"size"`
	Blob string      `json:"blob"` // in the rescue
}

// Modes, as git writes them.
const (
	modeFile      = "100644"
	modeProgram   = "100755"
	modeLink      = "120000"
	modeTree      = "40000"
	modeSubmodule = "160000"
)

// isConflict reports whether the path was unmerged.
func (e entry) isConflict() bool { return len(e.Index) > 0 && e.Index[0].Stage > 0 }

// isHead reports whether the file has the bytes and the mode that HEAD has, as far as git converts nothing.
func (e entry) isHead() bool {
	return e.Head != nil && e.Work != nil && e.Work.Mode == e.Head.Mode && e.Work.Blob == e.Head.OID
}

// isStaged reports whether the index differed from HEAD.
func (e entry) isStaged() bool {
	switch {
	case e.isConflict() || e.Intent:
		return true
	case len(e.Index) == 0 || e.Head == nil:
		return (e.Head == nil) != (len(e.Index) == 0)
	}
	return e.Head.Mode != e.Index[0].Mode || e.Head.OID != e.Index[0].OID
}

// stateWords returns how the path was, in words of git.
func (e entry) stateWords() []string {
	var s []string
	add := func(is bool, word string) {
		if is {
			s = append(s, word)
		}
	}

	add(e.Unsure, "unsure")
	add(e.isConflict(), "conflict")
	add(e.Intent, "intent to add")
	add(e.isStaged() && !e.isConflict() && !e.Intent, "staged")

	tracked := len(e.Index) > 0
	add(e.Ignored, "ignored")
	add(!tracked && !e.Ignored && !e.Unsure && (e.Work != nil || e.LeftOut), "untracked")
	add(e.Work == nil && !e.LeftOut && !(tracked && e.Index[0].isSubmodule()), "deleted")
	add(tracked && !e.isConflict() && e.isModified(), "modified")

	add(e.Assume, "assume unchanged")
	add(e.Skip, "skip worktree")

	return s
}

// isModified reports whether the working tree had other bytes than the index, as far as the rescue knows
// both. Where only git's conversions differ, it says so too.
func (e entry) isModified() bool {
	if e.Work == nil || e.Intent {
		return false
	}

	v := e.Index[0]
	return v.Mode != e.Work.Mode || v.Blob == "" && v.OID != e.Work.Blob || v.Blob != "" && v.Blob != e.Work.Blob
}

// bytesText is a text of any bytes. JSON has only valid UTF-8, so other texts are written in base64, after a
// mark.
type bytesText string

const base64Mark = "base64:"

// MarshalText implements [encoding.TextMarshaler].
func (t bytesText) MarshalText() ([]byte, error) {
	if s := string(t); utf8.ValidString(s) && !strings.HasPrefix(s, base64Mark) {
		return []byte(s), nil
	}
	return []byte(base64Mark + base64.StdEncoding.EncodeToString([]byte(t))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *bytesText) UnmarshalText(b []byte) error {
	s, encoded := strings.CutPrefix(string(b), base64Mark)
	if encoded {
		d, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return err
		}
		s = string(d)
	}

	*t = bytesText(s)
	return nil
}

// manifestJSON is a manifest as it is written, with texts of any bytes.
type manifestJSON struct {
	Manifest
	Top     bytesText       `json:"checkout"`
	Common  bytesText       `json:"git_common_dir"`
	Branch  bytesText       `json:"branch,omitempty"`
	Command bytesText       `json:"command,omitempty"`
	LeftOut []leftOutJSON   `json:"left_out"`
	Nested  []nestedPathsID `json:"nested,omitempty"`
	Needs   []string        `json:"needs,omitempty"`
}

type leftOutJSON struct {
	LeftOut
	Path bytesText `json:"path"`
}

type nestedPathsID struct {
	Nested
	Path bytesText `json:"path"`
}

func (m Manifest) encodeJSON() ([]byte, error) {
	j := manifestJSON{
		Manifest: m, Top: bytesText(m.Top), Common: bytesText(m.Common),
		Branch: bytesText(m.Branch), Command: bytesText(m.Command),
		LeftOut: []leftOutJSON{}, Needs: m.Needs,
	}

	for _, l := range m.LeftOut {
		j.LeftOut = append(j.LeftOut, leftOutJSON{l, bytesText(l.Path)})
	}

	for _, n := range m.Nested {
		j.Nested = append(j.Nested, nestedPathsID{n, bytesText(n.Path)})
	}

	return json.Marshal(j)
}

func decodeManifest(b []byte) (Manifest, error) {
	var j manifestJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return Manifest{}, fmt.Errorf("read the manifest of a rescue: %w", err)
	}

	m := j.Manifest
	m.Top, m.Common, m.Branch, m.Command = string(j.Top), string(j.Common), string(j.Branch), string(j.Command)
	m.LeftOut, m.Needs = []LeftOut{}, j.Needs

	for _, l := range j.LeftOut {
		l.LeftOut.Path = string(l.Path)
		m.LeftOut = append(m.LeftOut, l.LeftOut)
	}

	for _, n := range j.Nested {
		n.Nested.Path = string(n.Path)
		m.Nested = append(m.Nested, n.Nested)
	}

	return m, nil
}
