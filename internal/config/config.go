// Package config reads .talking-stick.toml, in which a project says how agents should work on it. A
// clone brings the file from anybody, so this package checks everything in it.
//
// See docs/decisions/install-and-settings-files.md#talking-sticktoml.
package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// FileName is the name of the file, at the root of a workspace.
const FileName = ".talking-stick.toml"

// maxFile limits the file's size: every session and every check of an edit reads it.
const maxFile = 1 << 20

// Config is what a project sets. Its zero value isn't the default: see [Default].
type Config struct {
	Session   Session
	Roles     Roles
	Gate      Gate
	Worker    Worker
	Merge     Merge
	PR        PR
	Snapshots Snapshots
}

// Session is the section [session].
type Session struct {
	Auto   bool   // the harness's hook starts sessions
	Anchor string // the primary's context file, relative to the root; empty for the default
}

// Roles is the section [roles].
type Roles struct {
	Append      []glob.Pattern // files that everybody may add to, and nobody should rewrite
	PrimaryOnly []glob.Pattern // files that only the primary changes; nil for the default
}

// Default returns the configuration of a project without the file.
func Default() Config {
	return Config{
		Session: Session{Auto: true},
		Gate:    Gate{Timeout: 10 * time.Minute},
		Merge:   Merge{Batch: 1},
		Worker:  Worker{Dir: DefaultWorktreeDir, Races: 3, Prefix: DefaultPrefix, Sign: true},
	}
}

// section is a row of the table of sections.
type section struct {
	name string
	keys []key
}

// key is a row of a section.
type key struct {
	name    string
	kind    stick.Words // what its value has to be, for the error message
	meaning string      // for the reference
	set     func(c *Config, v any) error
}

// Key describes a key of the file, for the reference.
type Key struct{ Section, Name, Kind, Meaning string }

// Keys lists all keys of the file.
func Keys() (all []Key) {
	for _, s := range sections {
		for _, k := range s.keys {
			all = append(all, Key{s.name, k.name, string(k.kind), k.meaning})
		}
	}
	return all
}

// errKind says that a value isn't what its key's kind asks for.
var errKind = errors.New("of another kind")

// sections lists what the file may contain.
var sections = []section{
	{"session", []key{
		{
			"auto", "true or false",
			"with false, hooks don't start sessions: agents run `tt session start` themselves (default true)",
			func(c *Config, v any) error { return assignValue(v, &c.Session.Auto) },
		},
		{
			"anchor", "a path inside the workspace, not in .git and not this file, of at most 100 letters, digits, dots, dashes, underscores and slashes",
			"the primary's context file; the others' are in the directory of the same name with `.d` at its end (default `.ai/session-context.org` where there is `.ai/`, else `.talking-stick/session.md`)", func(c *Config, v any) error {
				if err := assignValue(v, &c.Session.Anchor); err != nil || !isInside(c.Session.Anchor) || !isPlain(c.Session.Anchor) {
					return errKind
				}
				return nil
			},
		},
	}},
	{"roles", []key{
		{
			"append", "a list of patterns",
			"files that agents may add to but shouldn't rewrite; tt reminds them",
			func(c *Config, v any) error { return readPatterns(v, &c.Roles.Append) },
		},
		{
			"primary_only", "a list of patterns",
			"files that only the primary may change (default: its context file and this file)",
			func(c *Config, v any) error { return readPatterns(v, &c.Roles.PrimaryOnly) },
		},
	}},
	{"gate", gateKeys},
	{"worker", workerKeys},
	{"merge", mergeKeys},
	{"pr", prKeys},
	{"snapshots", snapshotKeys},
}

// Read reads the file of a workspace. If there is none, it returns the default. It fails as [Parse] does.
func Read(root string) (Config, error) {
	path := filepath.Join(root, FileName)
	b, err := ReadFile(root, FileName, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Default(), nil
	case errors.Is(err, ErrNotPlain):
		return Default(), invalidFile("%s can't be read: it must be a plain file in this directory", FileName).With("path", path)
	case errors.Is(err, ErrTooLong):
		return Default(), invalidFile("%s can't be read: it has more than %d bytes", FileName, maxFile).With("path", path)
	case err != nil:
		return Default(), invalidFile("%s can't be read", FileName).With("path", path)
	}

	c, err := Parse(b)
	if e, ok := errors.AsType[*stick.Error](err); ok {
		e.With("path", path)
	}
	return c, err
}

// Parse parses the text of the file. If it fails, with [stick.CodeProjectConfig], it returns the default, but
// for what is never copied: there the patterns that are understood hold.
func Parse(b []byte) (Config, error) {
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		if d, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := d.Position()
			return Default(), invalidFile("%s has an error in line %d, column %d", FileName, line, column).With("line", line)
		}
		return Default(), invalidFile("%s isn't TOML", FileName)
	}

	c, err := parseSections(tree)
	if err != nil {
		// What somebody wanted kept out of copies stays out, whatever else is wrong in the file.
		c = Default()
		section, _ := tree["snapshots"].(map[string]any)
		c.Snapshots.Never = validPatterns(section["never"])
	}
	return c, err
}

func parseSections(tree map[string]any) (Config, error) {
	c := Default()
	for name, v := range sortedByName(tree) {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return c, unknownName("section", name, namesOf(sections, func(s section) string { return s.name }))
		}

		values, ok := v.(map[string]any)
		if !ok {
			return c, invalidFile("%s: %s is a section: [%s]", FileName, name, name).With("field", name)
		}

		if err := sections[i].readKeys(&c, values); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (s section) readKeys(c *Config, values map[string]any) error {
	for name, v := range sortedByName(values) {
		i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == name })
		if i < 0 {
			return unknownName("key", s.name+"."+name, namesOf(s.keys, func(k key) string { return s.name + "." + k.name }))
		}

		if err := s.keys[i].set(c, v); err != nil {
			if e, ok := errors.AsType[*stick.Error](err); ok {
				return invalidFile("%s: %s.%s: %s", FileName, s.name, name, e).With("field", s.name+"."+name)
			}
			return invalidFile("%s: %s.%s must be %s", FileName, s.name, name, s.keys[i].kind).With("field", s.name+"."+name)
		}
	}
	return nil
}

// isInside reports whether path, taken as text, stays below its base directory, and names neither a file
// of git nor a configuration file of tt.
func isInside(path string) bool {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))), "/")
	isReserved := func(part string) bool { return strings.EqualFold(part, ".git") || strings.EqualFold(part, FileName) }
	if slices.ContainsFunc(parts, isReserved) {
		return false // in any case: some file systems ignore it
	}

	local := filepath.IsLocal(filepath.FromSlash(path)) && filepath.Clean(path) != "."
	return local && !strings.ContainsRune(path, 0) && !strings.HasSuffix(path, "/")
}

// isPlain reports whether a path can stand in a sentence that a model reads, and says nothing else there.
func isPlain(path string) bool {
	return utf8.ValidString(path) && utf8.RuneCountInString(path) <= 100 && strings.IndexFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/", r)
	}) < 0
}

func assignValue[T any](v any, into *T) error {
	t, ok := v.(T)
	if !ok {
		return errKind
	}
	*into = t
	return nil
}

func readPatterns(v any, into *[]glob.Pattern) error {
	list, ok := v.([]any)
	if !ok {
		return errKind
	}

	out := []glob.Pattern{}
	for _, x := range list {
		text, ok := x.(string)
		if !ok {
			return errKind
		}

		p, err := scope.ParsePattern(text)
		if err != nil {
			return err
		}
		out = append(out, p)
	}

	*into = out
	return nil
}

// sortedByName iterates over a table by name, so that of several faults it always finds the same one first.
func sortedByName(m map[string]any) func(yield func(string, any) bool) {
	return func(yield func(string, any) bool) {
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		slices.Sort(keys)

		for _, k := range keys {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func namesOf[T any](rows []T, name func(T) string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = name(r)
	}
	return out
}

func unknownName(what, name string, known []string) error {
	return invalidFile("%s has an unknown %s %q", FileName, what, stick.Clip(name, 60)).With("field", stick.Clip(name, 60)).
		Hintf("did you mean %s?", stick.Nearest(name, known))
}

func invalidFile(format string, args ...any) *stick.Error {
	return stick.Errorf(stick.CodeProjectConfig, format, args...).Hintf("fix the file or remove it")
}
