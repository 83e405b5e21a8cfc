package manifest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"talkingstick/internal/rescue/pack"
)

// State is the file "entries" of a rescue. Two rescues of the same state have the same.
type State struct {
	Head    string  `json:"head"`
	Entries []Entry `json:"entries"` // sorted by path
}

// IsEqual reports whether two states are the same.
func (s State) IsEqual(o State) bool {
	return s.Head == o.Head && slices.EqualFunc(s.Entries, o.Entries, Entry.isEqual)
}

// isEqual compares all fields: [Entry] holds a slice, and can't be compared as it is.
func (e Entry) isEqual(o Entry) bool {
	flagsOf := func(e Entry) [6]bool { return [...]bool{e.Intent, e.Assume, e.Skip, e.Ignored, e.LeftOut, e.Unsure} }
	return e.Path == o.Path && flagsOf(e) == flagsOf(o) &&
		isSame(e.Head, o.Head) && slices.Equal(e.Index, o.Index) && isSame(e.Work, o.Work)
}

// isSame compares what two pointers point to. Nil is only the same as nil.
func isSame[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

// CountFiles counts the paths of which the rescue holds something, be it that they were deleted.
func (s State) CountFiles() (n int) {
	for _, e := range s.Entries {
		if !e.LeftOut || slices.ContainsFunc(e.Index, func(v Version) bool { return v.Blob != "" }) {
			n++
		}
	}
	return n
}

// UncommittedPaths lists the paths of a state that git doesn't ignore. Without an index git finds every file
// of HEAD both deleted and untracked; then those that are as in HEAD don't count.
func (s State) UncommittedPaths(hasIndex bool) (paths []string) {
	for _, e := range s.Entries {
		isUnchanged := !hasIndex && e.IsHead()
		if !e.Ignored && !isUnchanged {
			paths = append(paths, string(e.Path))
		}
	}
	return paths
}

// Entry is how one path was.
type Entry struct {
	Path    BytesText `json:"path"`
	Head    *Version  `json:"head,omitempty"`  // in HEAD; nil if it wasn't there, or if the path was in conflict
	Index   []Version `json:"index,omitempty"` // nil if it wasn't tracked
	Intent  bool      `json:"intent_to_add,omitempty"`
	Assume  bool      `json:"assume_unchanged,omitempty"`
	Skip    bool      `json:"skip_worktree,omitempty"`
	Ignored bool      `json:"ignored,omitempty"`
	Work    *WorkFile `json:"work,omitempty"`     // nil if it wasn't in the working tree
	LeftOut bool      `json:"left_out,omitempty"` // it was in the working tree, and isn't in the rescue
	Unsure  bool      `json:"unsure,omitempty"`   // only its file was looked at: HEAD and the index aren't known
}

// Version is a file as git has it, in HEAD or in the index.
type Version struct {
	Mode  string `json:"mode"` // as git writes it: 100644
	OID   string `json:"oid"`  // in the user's repository
	Stage int    `json:"stage,omitempty"`
	Blob  string `json:"blob,omitempty"` // the same bytes in the rescue; empty if they aren't there
}

// IsSubmodule reports whether it is the commit of a submodule.
func (v Version) IsSubmodule() bool { return v.Mode == pack.ModeSubmodule }

// WorkFile is a file or link in the working tree.
type WorkFile struct {
	Mode string      `json:"mode"`
	Perm fs.FileMode `json:"perm,omitempty"` // of a file
	Size int64       `json:"size"`
	Blob string      `json:"blob"` // in the rescue
}

// IsConflict reports whether the path was unmerged.
func (e Entry) IsConflict() bool { return len(e.Index) > 0 && e.Index[0].Stage > 0 }

// IsHead reports whether the file has the bytes and the mode that HEAD has, as far as git converts nothing.
func (e Entry) IsHead() bool {
	return e.Head != nil && e.Work != nil && e.Work.Mode == e.Head.Mode && e.Work.Blob == e.Head.OID
}

// IsStaged reports whether the index differed from HEAD.
func (e Entry) IsStaged() bool {
	switch {
	case e.IsConflict() || e.Intent:
		return true
	case len(e.Index) == 0 || e.Head == nil:
		return (e.Head == nil) != (len(e.Index) == 0)
	}
	return e.Head.Mode != e.Index[0].Mode || e.Head.OID != e.Index[0].OID
}

// StateWords returns how the path was, in words of git.
func (e Entry) StateWords() []string {
	var s []string
	add := func(is bool, word string) {
		if is {
			s = append(s, word)
		}
	}

	add(e.Unsure, "unsure")
	add(e.IsConflict(), "conflict")
	add(e.Intent, "intent to add")
	add(e.IsStaged() && !e.IsConflict() && !e.Intent, "staged")

	tracked := len(e.Index) > 0
	add(e.Ignored, "ignored")
	add(!tracked && !e.Ignored && !e.Unsure && (e.Work != nil || e.LeftOut), "untracked")
	add(e.Work == nil && !e.LeftOut && !(tracked && e.Index[0].IsSubmodule()), "deleted")
	add(tracked && !e.IsConflict() && e.isModified(), "modified")

	add(e.Assume, "assume unchanged")
	add(e.Skip, "skip worktree")

	return s
}

// isModified reports whether the working tree had other bytes than the index, as far as the rescue knows
// both. Where only git's conversions differ, it says so too.
func (e Entry) isModified() bool {
	if e.Work == nil || e.Intent {
		return false
	}

	v := e.Index[0]
	return v.Mode != e.Work.Mode || v.Blob == "" && v.OID != e.Work.Blob || v.Blob != "" && v.Blob != e.Work.Blob
}

// BytesText is a text of any bytes. JSON has only valid UTF-8, so other texts are written in base64, after a
// mark.
type BytesText string

const base64Mark = "base64:"

// MarshalText implements [encoding.TextMarshaler].
func (t BytesText) MarshalText() ([]byte, error) {
	if s := string(t); utf8.ValidString(s) && !strings.HasPrefix(s, base64Mark) {
		return []byte(s), nil
	}
	return []byte(base64Mark + base64.StdEncoding.EncodeToString([]byte(t))), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *BytesText) UnmarshalText(b []byte) error {
	s, encoded := strings.CutPrefix(string(b), base64Mark)
	if encoded {
		d, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			return err
		}
		s = string(d)
	}

	*t = BytesText(s)
	return nil
}

// EncodeState writes a state as one file.
func EncodeState(st State) ([]byte, error) {
	b, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the entries of a rescue: %w", err)
	}
	return b, nil
}

// DecodeState reads what [EncodeState] has written, or a file of [SplitState].
func DecodeState(b []byte) (st State, err error) {
	if err := json.Unmarshal(b, &st); err != nil {
		return State{}, fmt.Errorf("read the entries of a rescue: %w", err)
	}
	return st, nil
}

// manyEntries is from how many entries on a snapshot has them in many files.
const manyEntries = 1024

// SplitState divides the entries of a snapshot among files, by their paths: a change of one path changes one
// file, and the others are those of the snapshot before. It returns the files by name.
func SplitState(st State) (map[string][]byte, error) {
	// One digit makes 16 files, two make 256.
	digits := 1
	if len(st.Entries) >= manyEntries {
		digits = 2
	}

	parts := map[string]State{}
	for _, e := range st.Entries {
		name := ShortSum(string(e.Path), 1)[:digits]
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

// JoinState puts together what [SplitState] has divided.
func JoinState(head string, files []pack.Object) (State, error) {
	st := State{Head: head, Entries: []Entry{}}
	for _, f := range files {
		if f.Kind != pack.KindNames[pack.KindBlob] {
			return State{}, pack.ErrObject
		}
		p, err := DecodeState(f.Data)
		if err != nil {
			return State{}, err
		}
		st.Entries = append(st.Entries, p.Entries...)
	}

	slices.SortFunc(st.Entries, func(a, b Entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return st, nil
}

func BlobsOf(entries []Entry) (names []string) {
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

func (e Entry) IsSubmodule() bool {
	return len(e.Index) > 0 && e.Index[0].IsSubmodule() || e.Head != nil && e.Head.IsSubmodule()
}

// HasHead reports whether HEAD had for an entry what it has now: a version, or none.
func (e Entry) HasHead(head Version, committed bool) bool {
	if e.IsConflict() || (e.Head != nil) != committed {
		return false
	}
	return !committed || e.Head.Mode == head.Mode && e.Head.OID == head.OID
}
