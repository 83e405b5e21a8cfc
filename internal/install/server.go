package install

import (
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// serverPart returns the part that registers the MCP server. An existing entry of ours keeps what somebody
// added to it, such as a time limit or more arguments; only the program's path is set. An entry under our
// name that runs something else isn't ours, and stays.
func (t Target) serverPart(s harness.Setup) part {
	at := append(slices.Clone(s.ServerAt), harness.ServerName)
	old := append(slices.Clone(s.ServerAt), harness.SkillName)
	x := part{what: mcpServer, toml: s.TOML}
	x.npm = func(src []byte) []byte {
		if e := valueAt(src, s.TOML, old); t.runsNpm(e) {
			return e
		}
		return nil
	}

	x.other = func(src []byte) bool {
		e := valueAt(src, s.TOML, at)
		return e != nil && !t.runsUs(e) && !t.runsNpm(e)
	}

	x.noNpm = func(src []byte) ([]byte, bool, error) {
		if x.npm(src) == nil {
			return src, false, nil
		}
		return removeEntry(s, old, len(s.ServerAt))(src)
	}

	x.set = func(src []byte) ([]byte, bool, error) {
		edits := []confedit.Edit{x.noNpm}
		if !x.other(src) {
			edits = append(edits, t.setServer(s, at, valueAt(src, s.TOML, at)), t.setDataDir(s, at))
		}
		return confedit.JoinEdits(edits...)(src)
	}

	x.remove = func(keep func([]string) int) confedit.Edit {
		return func(src []byte) ([]byte, bool, error) {
			if e := valueAt(src, s.TOML, at); e != nil && !t.runsUs(e) {
				return src, false, nil
			}
			return removeEntry(s, at, min(keep(at), len(s.ServerAt)))(src)
		}
	}

	return x
}

func removeEntry(s harness.Setup, at []string, keep int) confedit.Edit {
	if s.TOML {
		return confedit.TOMLRemoveTable(at)
	}
	return confedit.JSONRemove(at, keep)
}

// setServer adds our entry, or sets the program's path in the existing one.
func (t Target) setServer(s harness.Setup, at []string, have json.RawMessage) confedit.Edit {
	ours := t.runsUs(have)
	argv, list := argvOf(have)
	command := append(slices.Clone(at), "command")

	switch {
	case s.TOML && ours:
		return confedit.TOMLSetTable(at, confedit.TOMLTable{{Key: "command", Value: t.programPath()}})
	case s.TOML:
		return confedit.TOMLSetTable(at, confedit.TOMLTable{
			{Key: "command", Value: t.programPath()}, {Key: "args", Value: []string{"mcp"}},
		})
	case ours && list:
		return confedit.JSONSet(command, append([]string{t.programPath()}, argv[1:]...))
	case ours:
		return confedit.JSONSet(command, t.programPath())
	default:
		return confedit.JSONSet(at, s.Entry(t.programPath()))
	}
}

// dataDirEnv names the data directory to a process.
const dataDirEnv = "TALKING_STICK_DATA_DIR"

// setDataDir has our entry name the data directory, where the harness doesn't pass the user's variables on
// and the directory isn't the default. It names no database: an address may hold a password. A project's
// entry is for others, whose directory is another.
func (t Target) setDataDir(s harness.Setup, at []string) confedit.Edit {
	env := append(slices.Clone(at), "env")
	switch {
	case !s.ServerBare || t.Project != "":
		return confedit.JoinEdits()
	case t.DataDir != t.Default:
		return confedit.TOMLSetTable(env, confedit.TOMLTable{{Key: dataDirEnv, Value: t.DataDir}})
	}

	return func(src []byte) ([]byte, bool, error) {
		var vars map[string]json.RawMessage
		if json.Unmarshal(valueAt(src, true, env), &vars) == nil && len(vars) == 1 && vars[dataDirEnv] != nil {
			return confedit.TOMLRemoveTable(env)(src)
		}
		return confedit.TOMLRemoveTable(append(env, dataDirEnv))(src)
	}
}

// ServerDir returns the data directory that a harness's MCP server opens, as our entry at this level says.
// Without one it returns the directory of this program.
func (t Target) ServerDir(row harness.Row) string {
	s := row.Setup

	// A file that can't be read was reported.
	src, _ := confedit.Read(t.serverFile(s))
	var e struct {
		Env map[string]string `json:"env"`

		// Some harnesses call it environment.
		Environment map[string]string `json:"environment"`
	}

	entry := valueAt(src, s.TOML, append(slices.Clone(s.ServerAt), harness.ServerName))
	if entry == nil || !t.runsUs(entry) || json.Unmarshal(entry, &e) != nil {
		return t.DataDir
	}

	switch dir := cmp.Or(e.Env[dataDirEnv], e.Environment[dataDirEnv]); {
	case dir != "":
		return filepath.Clean(dir)
	case s.ServerBare:
		return t.Default
	}

	return t.DataDir
}

// argvOf returns the command line of a server's entry. list reports that the entry writes it as one list.
func argvOf(entry []byte) (argv []string, list bool) {
	var e struct {
		Command json.RawMessage `json:"command"`
		Args    []string        `json:"args"`
	}

	var program string
	switch {
	case json.Unmarshal(entry, &e) != nil:
		return nil, false
	case json.Unmarshal(e.Command, &argv) == nil:
		return argv, true
	case json.Unmarshal(e.Command, &program) == nil:
		return append([]string{program}, e.Args...), false
	}

	return nil, false
}

// runsUs reports whether a server's entry runs this program.
func (t Target) runsUs(entry []byte) bool {
	argv, _ := argvOf(entry)
	return len(argv) > 1 && argv[1] == "mcp" && t.isTT(argv[0])
}

// runsNpm reports whether a server's entry runs the npm program of the same name: as tt or talking-stick,
// by a package runner, or by its script. This program itself isn't that one, whatever it is called.
func (t Target) runsNpm(entry []byte) bool {
	argv, _ := argvOf(entry)
	if len(argv) == 0 || argv[len(argv)-1] != "mcp" {
		return false
	}

	switch path.Base(strings.ReplaceAll(argv[0], `\`, "/")) {
	case "tt", "talking-stick":
		return len(argv) == 2 && !isSameFile(argv[0], t.TT)
	case "npx", "bunx", "pnpm", "node":
		return slices.ContainsFunc(argv[1:], func(a string) bool { return strings.Contains(a, "talking-stick") })
	}

	return false
}

// isSameFile reports whether two paths are the same file.
func isSameFile(a, b string) bool {
	if !filepath.IsAbs(a) {
		return false
	}

	one, err := os.Stat(a)
	if err != nil {
		return false
	}

	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
}
