package git

import (
	"bytes"
	"cmp"
	"fmt"

	"talkingstick/stick"
)

// maxDirty is how many paths a snapshot lists. It only counts the others.
const maxDirty = 200

// statusParser parses the output of git status --porcelain=v2 --branch -z while it arrives. Records end with
// NUL, so that a name may hold anything else, line ends included. It keeps only the paths that a snapshot
// lists, so that a million untracked files cost no memory.
type statusParser struct {
	part    []byte // the beginning of a record whose end hasn't arrived yet
	origin  bool   // the next record is the former path of a rename
	head    string
	branch  string
	dirty   []string
	count   int
	problem error // the first record that couldn't be parsed
	most    int   // how many paths to keep; 0 for maxDirty
}

// Write parses a part of the output. It never fails, so that git can run to its end.
func (s *statusParser) Write(p []byte) (int, error) {
	n := len(p)
	for {
		i := bytes.IndexByte(p, 0)
		if i < 0 {
			s.part = append(s.part, p...)
			return n, nil
		}

		// Most records arrive whole, and then are parsed where they are.
		record := p[:i]
		if len(s.part) > 0 {
			record = append(s.part, record...)
			s.part = record[:0]
		}

		if err := s.parseRecord(record); err != nil && s.problem == nil {
			s.problem = err
		}

		p = p[i+1:]
	}
}

// asWorkspace returns the result, once all output has been written.
func (s *statusParser) asWorkspace() (*stick.Workspace, error) {
	switch {
	case s.problem != nil:
		return nil, fmt.Errorf("read git status: %w", s.problem)
	case len(s.part) > 0 || s.origin:
		return nil, fmt.Errorf("read git status: the output ends in the middle of a record")
	}

	// A list that is empty is one in JSON, too, not null.
	w := &stick.Workspace{Head: s.head, Branch: s.branch, Dirty: s.dirty, DirtyCount: s.count}
	if w.Dirty == nil {
		w.Dirty = []string{}
	}

	return w, nil
}

// The number of fields before the path, by kind of entry.
const (
	changedFields  = 8 // 1 XY sub mH mI mW hH hI path
	renamedFields  = 9 // 2 XY sub mH mI mW hH hI Xscore path NUL former path
	unmergedFields = 10
	otherFields    = 1 // ? path
)

func (s *statusParser) parseRecord(r []byte) error {
	// The former path of a rename is a record without fields.
	if s.origin {
		s.origin = false
		s.addPath(string(r))
		return nil
	}

	if len(r) == 0 {
		return fmt.Errorf("an empty record")
	}

	switch r[0] {
	case '#':
		s.parseHeader(string(r))
		return nil
	case '1':
		return s.parseEntry(r, changedFields)
	case '2':
		if err := s.parseEntry(r, renamedFields); err != nil {
			return err
		}
		s.origin = true
		return nil
	case 'u':
		return s.parseEntry(r, unmergedFields)
	case '?':
		return s.parseEntry(r, otherFields)
	case '!':
		// It is an ignored file, of which git isn't asked.
		return nil
	}

	return fmt.Errorf("an unknown record %.100q", r)
}

// parseHeader parses a line about the branch. Git may add headers at any time, so others are skipped.
func (s *statusParser) parseHeader(r string) {
	const oid, head = "# branch.oid ", "# branch.head "
	switch {
	case len(r) > len(oid) && r[:len(oid)] == oid:
		if s.head = r[len(oid):]; s.head == "(initial)" {
			s.head = ""
		}
	case len(r) > len(head) && r[:len(head)] == head:
		if s.branch = r[len(head):]; s.branch == "(detached)" {
			s.branch = ""
		}
	}
}

// parseEntry adds the path that follows n fields.
func (s *statusParser) parseEntry(r []byte, n int) error {
	path := r

	// The path is the last field, and may hold blanks.
	for range n {
		_, rest, ok := bytes.Cut(path, []byte(" "))
		if !ok {
			return fmt.Errorf("a record that is too short: %.100q", r)
		}
		path = rest
	}

	if len(path) == 0 {
		return fmt.Errorf("a record without a path: %.100q", r)
	}

	s.addPath(string(path))
	return nil
}

func (s *statusParser) addPath(path string) {
	s.count++
	if len(s.dirty) < cmp.Or(s.most, maxDirty) {
		s.dirty = append(s.dirty, path)
	}
}
