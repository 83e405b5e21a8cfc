// Package config reads .talking-stick.toml, in which a project says how it wants to be worked on. The
// file is part of the clone, and anybody may have written it, so everything in it is checked here.
package config

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"talkingstick/stick"
	"talkingstick/stick/glob"
)

// FileName is the name of the file, at the root of a workspace.
const FileName = ".talking-stick.toml"

// maxFile bounds the file: every session and every edit that is asked about reads it.
const maxFile = 1 << 20

// Config is what a project sets. Its zero value isn't the default: see [Default].
type Config struct {
	Session Session
	Roles   Roles
	Gate    Gate
	Worker  Worker
}

// Session is the section [session].
type Session struct {
	Auto   bool   // sessions start by their harness's hook
	Anchor string // the primary's context file, relative to the root; empty for the default
}

// Roles is the section [roles].
type Roles struct {
	Append      []glob.Pattern // what everybody may add to, and nobody should rewrite
	PrimaryOnly []glob.Pattern // what only the primary changes; nil for the default
}

// Default is the configuration where there is no file.
func Default() Config {
	return Config{
		Session: Session{Auto: true},
		Gate:    Gate{Timeout: 10 * time.Minute}, Worker: Worker{Dir: "worktrees", Races: 3},
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
	kind    string // what its value is, for who wrote something else
	meaning string // for the reference
	set     func(c *Config, v any) error
}

// Key is what may stand in the file, for the reference.
type Key struct{ Section, Name, Kind, Meaning string }

// Keys lists what may stand in the file.
func Keys() (all []Key) {
	for _, s := range sections {
		for _, k := range s.keys {
			all = append(all, Key{s.name, k.name, k.kind, k.meaning})
		}
	}
	return all
}

// errKind says that a value isn't of its key's kind.
var errKind = errors.New("of another kind")

// sections is the table of what may stand in the file.
var sections = []section{
	{"session", []key{
		{"auto", "true or false", "false keeps hooks from starting sessions: agents do it themselves, by `tt session start` (default true)", func(c *Config, v any) error { return assign(v, &c.Session.Auto) }},
		{"anchor", "a path inside of the workspace, but neither git's nor this file", "the primary's context file; the others' lie in the directory of the same name with the ending `.d` (default `.ai/session-context.org` where there is `.ai/`, else `.talking-stick/session.md`)", func(c *Config, v any) error {
			if err := assign(v, &c.Session.Anchor); err != nil || !isInside(c.Session.Anchor) {
				return errKind
			}
			return nil
		}},
	}},
	{"roles", []key{
		{"append", "a list of patterns", "what agents add to and don't rewrite; they are told", func(c *Config, v any) error { return patterns(v, &c.Roles.Append) }},
		{"primary_only", "a list of patterns", "what only the primary changes (default: its context file and this file)", func(c *Config, v any) error { return patterns(v, &c.Roles.PrimaryOnly) }},
	}},
	{"gate", gateKeys},
	{"worker", workerKeys},
}

// Read reads the file of a workspace; without one it answers the default. It fails with
// [stick.CodeProjectConfig].
func Read(root string) (Config, error) {
	path := filepath.Join(root, FileName)
	b, err := ReadFile(root, FileName, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Default(), nil
	case errors.Is(err, ErrNotPlain):
		return Default(), invalid("%s can't be read: it has to be a plain file of this directory", FileName).With("path", path)
	case errors.Is(err, ErrTooLong):
		return Default(), invalid("%s can't be read: it has more than %d bytes", FileName, maxFile).With("path", path)
	case err != nil:
		return Default(), invalid("%s can't be read", FileName).With("path", path)
	}
	c, err := Parse(b)
	if e, ok := errors.AsType[*stick.Error](err); ok {
		e.With("path", path)
	}
	return c, err
}

// Parse reads the text of the file. It fails with [stick.CodeProjectConfig], and answers the default
// then.
func Parse(b []byte) (Config, error) {
	var tree map[string]any
	if err := toml.Unmarshal(b, &tree); err != nil {
		if d, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, column := d.Position()
			return Default(), invalid("%s can't be read from line %d, column %d on", FileName, line, column).With("line", line)
		}
		return Default(), invalid("%s isn't TOML", FileName)
	}
	c := Default()
	for name, v := range sorted(tree) {
		i := slices.IndexFunc(sections, func(s section) bool { return s.name == name })
		if i < 0 {
			return Default(), unknownName("section", name, names(sections, func(s section) string { return s.name }))
		}
		values, ok := v.(map[string]any)
		if !ok {
			return Default(), invalid("%s: %s is a section: [%s]", FileName, name, name).With("field", name)
		}
		if err := sections[i].read(&c, values); err != nil {
			return Default(), err
		}
	}
	return c, nil
}

func (s section) read(c *Config, values map[string]any) error {
	for name, v := range sorted(values) {
		i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == name })
		if i < 0 {
			return unknownName("key", s.name+"."+name, names(s.keys, func(k key) string { return s.name + "." + k.name }))
		}
		if err := s.keys[i].set(c, v); err != nil {
			if e, ok := errors.AsType[*stick.Error](err); ok {
				return invalid("%s: %s.%s: %s", FileName, s.name, name, e.Message).With("field", s.name+"."+name)
			}
			return invalid("%s: %s.%s has to be %s", FileName, s.name, name, s.keys[i].kind).With("field", s.name+"."+name)
		}
	}
	return nil
}

// isInside tells whether a path stays below the directory that it is relative to, by its text, and is
// neither git's there nor a file like this one.
func isInside(path string) bool {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(filepath.FromSlash(path))), "/")
	if slices.ContainsFunc(parts, func(part string) bool { return strings.EqualFold(part, ".git") || strings.EqualFold(part, FileName) }) {
		return false // with any letters: there are file systems that don't tell them apart
	}
	return filepath.IsLocal(filepath.FromSlash(path)) && filepath.Clean(path) != "." && !strings.ContainsRune(path, 0) && !strings.HasSuffix(path, "/")
}

func assign[T any](v any, into *T) error {
	t, ok := v.(T)
	if !ok {
		return errKind
	}
	*into = t
	return nil
}

func patterns(v any, into *[]glob.Pattern) error {
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
		p, err := glob.Parse(text)
		if err != nil {
			return err
		}
		out = append(out, p)
	}
	*into = out
	return nil
}

// sorted goes through a table by name, so that of several faults always the same one is told.
func sorted(m map[string]any) func(yield func(string, any) bool) {
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

func names[T any](rows []T, name func(T) string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = name(r)
	}
	return out
}

func unknownName(what, name string, known []string) error {
	return invalid("%s has an unknown %s %q", FileName, what, stick.Clip(name, 60)).With("field", stick.Clip(name, 60)).
		Hintf("did you mean %s?", stick.Nearest(name, known))
}

func invalid(format string, args ...any) *stick.Error {
	return stick.Errorf(stick.CodeProjectConfig, format, args...).Hintf("mend the file, or take it away")
}
