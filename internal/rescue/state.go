package rescue

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"
)

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

func encodeState(st state) ([]byte, error) {
	b, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the entries of a rescue: %w", err)
	}
	return b, nil
}

func decodeState(b []byte) (st state, err error) {
	if err := json.Unmarshal(b, &st); err != nil {
		return state{}, fmt.Errorf("read the entries of a rescue: %w", err)
	}
	return st, nil
}

// manyEntries is from how many entries on a snapshot has them in many files.
const manyEntries = 1024

// splitState divides the entries of a snapshot among files, by their paths: a change of one path changes one
// file, and the others are those of the snapshot before. It returns the files by name.
func splitState(st state) (map[string][]byte, error) {
	// One digit makes 16 files, two make 256.
	digits := 1
	if len(st.Entries) >= manyEntries {
		digits = 2
	}

	parts := map[string]state{}
	for _, e := range st.Entries {
		name := shortSum(string(e.Path), 1)[:digits]
		p := parts[name]
		p.Entries = append(p.Entries, e)
		parts[name] = p
	}

	files := map[string][]byte{}
	for name, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("write the entries of a rescue: %w", err)
		}
		files[name] = b
	}

	return files, nil
}

// joinState puts together what splitState has divided.
func joinState(head string, files []object) (state, error) {
	st := state{Head: head, Entries: []entry{}}
	for _, f := range files {
		if f.kind != kindNames[kindBlob] {
			return state{}, errObject
		}
		p, err := decodeState(f.data)
		if err != nil {
			return state{}, err
		}
		st.Entries = append(st.Entries, p.Entries...)
	}

	slices.SortFunc(st.Entries, func(a, b entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return st, nil
}

func blobsOf(entries []entry) (names []string) {
	for _, e := range entries {
		if e.Work != nil {
			names = append(names, e.Work.Blob)
		}
		for _, v := range e.Index {
			if v.Blob != "" {
				names = append(names, v.Blob)
			}
		}
	}

	slices.Sort(names)
	return slices.Compact(names)
}

func (e entry) isSubmodule() bool {
	return len(e.Index) > 0 && e.Index[0].isSubmodule() || e.Head != nil && e.Head.isSubmodule()
}

// hasHead reports whether HEAD had for an entry what it has now: a version, or none.
func (e entry) hasHead(head version, committed bool) bool {
	if e.isConflict() || (e.Head != nil) != committed {
		return false
	}
	return !committed || e.Head.Mode == head.Mode && e.Head.OID == head.OID
}
