// Package install tells harnesses of us, and makes them forget us again: the skill, hooks, the MCP
// server and plugins, each in the harness's own files and in its own words. What others wrote there
// stays as it is, to the byte.
package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// Target is where harnesses are told of us.
type Target struct {
	Home    string
	Project string // the workspace's root; empty for the user's own configuration
	TT      string // the program, by an absolute path that stays when it is upgraded
	DataDir string
	Getenv  func(string) string
	Kill    func(point string) // for tests
}

// Step is a change of one file, ready to be made.
type Step struct {
	Harness string `json:"harness"`
	What    string `json:"what"`
	File    string `json:"file"`
	State   string `json:"state"` // new, changed, there, removed, absent, kept
	Note    string `json:"note,omitempty"`

	change *confedit.Change
	npm    []byte // an entry of the npm program that goes
}

// The states of a step.
const (
	New     = "new"     // it is put there
	Changed = "changed" // it is there in another form
	There   = "there"   // it is there already
	Removed = "removed"
	Absent  = "absent" // there is nothing to remove
	Kept    = "kept"   // it isn't ours any more, and stays
)

// Diff shows the change, empty when there is none.
func (s Step) Diff() string {
	if s.change == nil {
		return ""
	}
	return s.change.Diff()
}

// Pending tells whether the step would change anything.
func (s Step) Pending() bool { return s.change != nil && s.change.Changed() }

// Found lists the harnesses that were used on this machine, by their configuration.
func Found(t Target) []string {
	var found []string
	for _, name := range harness.Names() {
		if info, err := os.Stat(t.config(harness.Setups[name])); err == nil && info.IsDir() {
			found = append(found, name)
		}
	}
	return found
}

// config is the directory of a harness's configuration.
func (t Target) config(s harness.Setup) string {
	if s.ConfigEnv != "" {
		if dir := t.Getenv(s.ConfigEnv); dir != "" {
			return dir
		}
	}
	return filepath.Join(t.Home, filepath.FromSlash(s.Config))
}

// path is where a file of a harness lies; empty where there is none in this scope.
func (t Target) path(s harness.Setup, p harness.Scoped) string {
	if t.Project != "" {
		return below(t.Project, p.Project)
	}
	if s.ConfigEnv != "" && t.Getenv(s.ConfigEnv) != "" {
		if rest, ok := strings.CutPrefix(p.User, s.Config+"/"); ok {
			return below(t.config(s), rest)
		}
		if p.User == s.Config+".json" { // Claude Code keeps it beside its directory, and in a moved one
			return below(t.config(s), p.User)
		}
	}
	return below(t.Home, p.User)
}

func below(dir, path string) string {
	if path == "" {
		return ""
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// plan collects steps. Edits of one file are one change.
type plan struct {
	t        Target
	removing bool
	files    confedit.Files
	steps    []Step
}

// Install plans what harnesses are told. It writes nothing. It fails with [stick.CodeConfigMalformed]
// for a file that can't be read, before anything is changed.
func Install(t Target, names []string) ([]Step, error) { return makePlan(t, names, false) }

// Uninstall plans how harnesses forget us.
func Uninstall(t Target, names []string) ([]Step, error) { return makePlan(t, names, true) }

func makePlan(t Target, names []string, removing bool) ([]Step, error) {
	p := &plan{t: t, removing: removing, files: confedit.Files{Home: t.Home, Kill: t.Kill}}
	for _, name := range names {
		row, ok := harness.ByName(name)
		if !ok {
			return nil, stick.Errorf(stick.CodeUsage, "%q isn't a known harness", stick.Clip(name, 40)).With("field", "harness").
				Hintf("the harnesses are %s", strings.Join(harness.Names(), ", "))
		}
		if err := p.harness(row, harness.Setups[name]); err != nil {
			return nil, err
		}
	}
	if t.Project != "" {
		if err := p.project(); err != nil {
			return nil, err
		}
	}
	return p.steps, nil
}

// Apply makes the changes of a plan, one file after the other. What was made before a failure stays,
// and doing it all again goes on.
func Apply(steps []Step) error {
	for _, s := range steps {
		if s.Pending() {
			if err := s.change.Write(); err != nil {
				return explain(err)
			}
		}
	}
	return nil
}

// Npm lists the entries of the npm program that a plan removes, by file.
func Npm(steps []Step) map[string]json.RawMessage {
	gone := map[string]json.RawMessage{}
	for _, s := range steps {
		if s.npm != nil {
			gone[s.File] = s.npm
		}
	}
	return gone
}

// harness plans for one harness.
func (p *plan) harness(row harness.Row, s harness.Setup) error {
	if err := p.skill(row, s); err != nil {
		return err
	}
	// A file may hold hooks and servers both.
	edits := map[string][]confedit.Edit{}
	what := map[string][]string{}
	var order []string
	add := func(path, name string, e ...confedit.Edit) {
		if path == "" || len(e) == 0 {
			return
		}
		if !slices.Contains(order, path) {
			order = append(order, path)
		}
		edits[path] = append(edits[path], e...)
		what[path] = append(what[path], name)
	}
	add(p.t.path(s, s.Hooks), "hooks", p.hooks(row, s)...)
	server := p.t.path(s, s.Server)
	if row.Name == "opencode" {
		server = either(server, server+"c")
	}
	npm, err := p.npm(server, s)
	if err != nil {
		return err
	}
	add(server, "MCP server", p.server(s, npm != nil)...)
	if p.t.Project == "" && len(s.Sandbox) > 0 {
		e := confedit.TOMLAddElement(s.Sandbox, p.t.DataDir)
		if p.removing {
			e = confedit.TOMLRemoveElement(s.Sandbox, p.t.DataDir, true)
		}
		add(server, "sandbox", e)
	}
	for _, path := range order {
		step, err := p.step(row.Name, strings.Join(what[path], ", "), path, confedit.All(edits[path]...))
		if err != nil {
			return err
		}
		if path == server && npm != nil {
			step.npm, step.Note = npm, "an entry of the npm program goes"
		}
		if s.Review != "" && slices.Contains(what[path], "hooks") && step.Pending() && !p.removing {
			step.Note = s.Review
		}
		p.steps = append(p.steps, step)
	}
	if path := p.t.path(s, s.Plugin); path != "" {
		return p.own(row.Name, "plugin", path, s.Code(p.t.TT), func(have string) bool {
			return strings.HasPrefix(have, "// Talking Stick in ")
		})
	}
	return nil
}

// either is the second path where only that exists.
func either(first, second string) string {
	if _, err := os.Stat(first); err != nil {
		if _, err := os.Stat(second); err == nil {
			return second
		}
	}
	return first
}

// step plans an edit of a file.
func (p *plan) step(name, what, path string, e confedit.Edit) (Step, error) {
	s := Step{Harness: name, What: what, File: path}
	var err error
	if s.change, err = p.files.Prepare(path, e, confedit.Options{Removing: p.removing}); err != nil {
		return s, explain(err)
	}
	switch {
	case !s.change.Changed() && p.removing:
		s.State = Absent
	case !s.change.Changed():
		s.State = There
	case p.removing:
		s.State = Removed
	case s.change.Exists:
		s.State = Changed
	default:
		s.State = New
	}
	return s, nil
}

// own plans a file that is all ours. One that isn't, or that somebody edited, is left alone.
func (p *plan) own(name, what, path, text string, ours func(have string) bool) error {
	have, err := os.ReadFile(path)
	if err == nil && string(have) != text && !ours(string(have)) {
		p.steps = append(p.steps, Step{
			Harness: name, What: what, File: path, State: Kept,
			Note: "it isn't ours, or somebody edited it; it stays as it is",
		})
		return nil
	}
	if err != nil && !os.IsNotExist(err) {
		return explain(&confedit.FileError{File: path, Why: "can't be read", Err: err})
	}
	step, err := p.step(name, what, path, func(src []byte) ([]byte, bool, error) {
		if p.removing {
			return nil, src != nil, nil
		}
		return []byte(text), string(src) != text, nil
	})
	if err == nil && !slices.ContainsFunc(p.steps, func(s Step) bool { return s.File == path }) {
		p.steps = append(p.steps, step)
	}
	return err
}

// shipped are the digests of the skills of earlier versions: an unedited one is replaced.
var shipped = []string{}

// skill plans the skill.
func (p *plan) skill(row harness.Row, s harness.Setup) error {
	dir := p.t.path(s, s.Skills)
	if dir == "" {
		return nil
	}
	return p.own(row.Name, "skill", filepath.Join(dir, harness.SkillName, "SKILL.md"), harness.Skill, func(have string) bool {
		sum := sha256.Sum256([]byte(have))
		return slices.Contains(shipped, hex.EncodeToString(sum[:]))
	})
}

// project plans the instructions of a project.
func (p *plan) project() error {
	for _, f := range []struct {
		name string
		set  confedit.Edit
	}{
		{"AGENTS.md", confedit.SetBlock(strings.TrimSpace(harness.Instructions))},
		{"CLAUDE.md", confedit.SetImport("AGENTS.md")},
	} {
		e := f.set
		if p.removing {
			e = confedit.RemoveBlock()
		}
		step, err := p.step("project", "instructions", filepath.Join(p.t.Project, f.name), e)
		if err != nil {
			return err
		}
		p.steps = append(p.steps, step)
	}
	return nil
}

// handler is a hook's handler.
type handler struct {
	Type        string `json:"type"`
	Command     string `json:"command"`
	Timeout     int    `json:"timeout,omitempty"`
	Async       bool   `json:"async,omitempty"`
	AsyncRewake bool   `json:"asyncRewake,omitempty"`
}

type group struct {
	Matcher string    `json:"matcher,omitempty"`
	Hooks   []handler `json:"hooks"`
}

// Limits of hooks in seconds: what a harness waits for, and how long one that wakes may wait.
const (
	hookTimeout = 5
	wakeTimeout = 24 * 60 * 60
)

// hooks plans the hooks of a harness.
func (p *plan) hooks(row harness.Row, s harness.Setup) []confedit.Edit {
	if s.Hooks.User == "" {
		return nil
	}
	var edits []confedit.Edit
	add := func(event string, wake bool, h handler) {
		at := []string{"hooks", event}
		ours := oursIn(row.Name, wake)
		if p.removing {
			edits = append(edits, confedit.JSONRemoveHook(at, ours, 0))
		} else {
			edits = append(edits, confedit.JSONPutHook(at, ours, group{Hooks: []handler{h}}))
		}
	}
	for _, h := range row.Hooks {
		add(h.Name, false, handler{Type: "command", Command: p.t.hookCommand(row.Name, ""), Timeout: hookTimeout * s.HookUnit})
		if h.Event == harness.HookStop && row.Wake != harness.WakeNone && s.Async != "" {
			wake := handler{Type: "command", Command: p.t.hookCommand(row.Name, " --wake"), Timeout: wakeTimeout * s.HookUnit}
			wake.Async, wake.AsyncRewake = s.Async == "async", s.Async == "asyncRewake"
			add(h.Name, true, wake)
		}
	}
	return edits
}

// hookCommand is the command of a hook. It does nothing when the program is gone. Its text stays the
// same from version to version, because harnesses trust it by its text.
func (t Target) hookCommand(name, more string) string {
	tt := quote(t.TT)
	if runtime.GOOS == "windows" {
		return fmt.Sprintf("%s hook %s%s", tt, name, more)
	}
	return fmt.Sprintf("[ ! -x %s ] || %s hook %s%s", tt, tt, name, more)
}

var plainPath = regexp.MustCompile(`^[A-Za-z0-9/_.+-]+$`)

// quote makes a path one word of a shell.
func quote(path string) string {
	if plainPath.MatchString(path) {
		return path
	}
	if runtime.GOOS == "windows" {
		return `"` + path + `"`
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// oursIn tells our handlers of a harness's hooks: by what they run, wherever the program lies.
func oursIn(name string, wake bool) confedit.Ours {
	end := " hook " + name
	if wake {
		end += " --wake"
	}
	return func(element json.RawMessage) bool {
		var h handler
		if json.Unmarshal(element, &h) != nil || !strings.HasSuffix(h.Command, end) {
			return false
		}
		program := strings.Trim(strings.TrimSuffix(h.Command, end), `'"`)
		base := program[strings.LastIndexAny(program, `/\ `)+1:]
		return strings.TrimSuffix(base, ".exe") == "tt"
	}
}

// server plans the MCP server.
func (p *plan) server(s harness.Setup, npm bool) []confedit.Edit {
	if s.Server.User == "" {
		return nil
	}
	var edits []confedit.Edit
	at := append(slices.Clone(s.ServerAt), harness.ServerName)
	if npm {
		old := append(slices.Clone(s.ServerAt), harness.SkillName)
		if s.TOML {
			edits = append(edits, confedit.TOMLRemoveTable(old))
		} else {
			edits = append(edits, confedit.JSONRemove(old, len(s.ServerAt)))
		}
	}
	switch {
	case s.TOML && p.removing:
		edits = append(edits, confedit.TOMLRemoveTable(at))
	case s.TOML:
		edits = append(edits, confedit.TOMLSetTable(at, confedit.TOMLTable{{Key: "command", Value: p.t.TT}, {Key: "args", Value: []string{"mcp"}}}))
	case p.removing:
		edits = append(edits, confedit.JSONRemove(at, 0))
	default:
		edits = append(edits, confedit.JSONSet(at, s.Entry(p.t.TT)))
	}
	return edits
}

// explain gives the failures of editing their codes.
func explain(err error) error {
	switch e := err.(type) {
	case *confedit.MalformedError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s can't be read as what it should be: line %d, column %d: %s", e.File, e.Line, e.Col, e.Why).
			With("path", e.File).Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.PathError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s", err).With("path", e.File).
			Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.MarkerError:
		return stick.Errorf(stick.CodeConfigMalformed, "%s", err).With("path", e.File).
			Hintf("mend the file and run the command again; nothing was changed")
	case *confedit.ChangedError:
		return stick.Errorf(stick.CodeConfigChanged, "%s was changed by somebody else meanwhile", e.File).With("path", e.File).
			Hintf("run the command again")
	case *confedit.FileError:
		if e.Err != nil && os.IsPermission(e.Err) || e.Err == nil || isPathError(e.Err) {
			return stick.Errorf(stick.CodeConfigUnwritable, "%s", err).With("path", e.File).Hintf("see who may write it, and run the command again")
		}
	}
	return err
}

func isPathError(err error) bool {
	_, ok := err.(*fs.PathError)
	return ok
}
