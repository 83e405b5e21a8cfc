package confedit

import (
	"fmt"
	"strconv"
	"strings"
)

// MalformedError says that a file doesn't parse, and where. Nothing was changed.
type MalformedError struct {
	File string // empty when the edit was applied to bytes
	Line int    // from 1
	Col  int    // from 1, in bytes
	Why  string // never a part of the file's contents
}

func (e *MalformedError) Error() string {
	place := "line " + strconv.Itoa(e.Line) + ", column " + strconv.Itoa(e.Col)
	if e.File != "" {
		place = e.File + ": " + place
	}
	return place + ": " + e.Why
}

// PathError says that a file parses but has no room for the edit: something on the path of keys isn't an
// object, or a key is there twice. Nothing was changed.
type PathError struct {
	File string
	Path []string // from the root to what is wrong
	Why  string   // "is a string, not an object"
}

func (e *PathError) Error() string {
	s := pathText(e.Path) + " " + e.Why
	if e.File != "" {
		s = e.File + ": " + s
	}
	return s
}

// MarkerError says that the markers around our block in a Markdown file are broken. Nothing was
// changed.
type MarkerError struct {
	File string
	Line int // from 1
	Why  string
}

func (e *MarkerError) Error() string {
	s := "line " + strconv.Itoa(e.Line) + ": " + e.Why
	if e.File != "" {
		s = e.File + ": " + s
	}
	return s
}

// ChangedError says that somebody else changed the file after we read it. Nothing was written; the caller
// should try again.
type ChangedError struct{ File string }

func (e *ChangedError) Error() string {
	return "somebody else has just changed " + e.File + "; try again"
}

// NotRegular is why nothing but a regular file is edited.
const NotRegular = "isn't a regular file"

// FileError says that a file can't be edited at all: it isn't a regular file, or is protected.
type FileError struct {
	File string
	Why  string
	Err  error // the cause, if the system gave one
}

func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s %s: %v", e.File, e.Why, e.Err)
	}
	return e.File + " " + e.Why
}

// Unwrap gives the system's error.
func (e *FileError) Unwrap() error { return e.Err }

// unsafeError is a bug of this package: its own result failed the check. Nothing was changed.
type unsafeError struct{ why string }

func (e *unsafeError) Error() string {
	return "tt didn't change the file, because the edit would have damaged it: " + e.why
}

// addFileName adds the file's name to an error of an edit.
func addFileName(err error, file string) error {
	switch e := err.(type) {
	case *MalformedError:
		e.File = file
	case *PathError:
		e.File = file
	case *MarkerError:
		e.File = file
	default:
		return fmt.Errorf("%s: %w", file, err)
	}
	return err
}

// pathText writes a path of keys for people: hooks.PreToolUse, projects."/home/ann/app".
func pathText(path []string) string {
	if len(path) == 0 {
		return "the file's value"
	}
	var parts []string
	for _, k := range path {
		if !isBareKey(k) {
			k = strconv.Quote(k)
		}
		parts = append(parts, k)
	}
	return strings.Join(parts, ".")
}

// isBareKey reports whether k needs no quotes in TOML and in our messages.
func isBareKey(k string) bool {
	for _, r := range k {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' {
			return false
		}
	}
	return k != ""
}
