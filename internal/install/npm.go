package install

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"strings"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
)

// npm finds the entry of the npm program of the same name among the MCP servers of a file: one that
// is called talking-stick and runs that program. Nothing else is touched.
func (p *plan) npm(file string, s harness.Setup) ([]byte, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, nil // what can't be read is told when it is to be edited
	}
	at := append(slices.Clone(s.ServerAt), harness.SkillName)
	if s.TOML {
		entry, found, err := confedit.TOMLGet(src, at)
		if err != nil {
			return nil, explain(in(file, err))
		}
		if !found {
			return nil, nil
		}
		b, err := json.Marshal(entry)
		if err != nil || !runsNpm(b) {
			return nil, nil
		}
		return b, nil
	}
	entry, found, err := confedit.JSONGet(src, at)
	if err != nil {
		return nil, explain(in(file, err))
	}
	if !found || !runsNpm(entry) {
		return nil, nil
	}
	return entry, nil
}

// runsNpm tells whether a server's entry runs the npm program: as tt or talking-stick by name, by a
// package runner, or by its script.
func runsNpm(entry []byte) bool {
	var e struct {
		Command any      `json:"command"`
		Args    []string `json:"args"`
	}
	if json.Unmarshal(entry, &e) != nil {
		return false
	}
	var argv []string
	switch c := e.Command.(type) {
	case string:
		argv = append([]string{c}, e.Args...)
	case []any:
		for _, a := range c {
			s, ok := a.(string)
			if !ok {
				return false
			}
			argv = append(argv, s)
		}
	}
	if len(argv) == 0 || argv[len(argv)-1] != "mcp" {
		return false
	}
	switch path.Base(strings.ReplaceAll(argv[0], `\`, "/")) {
	case "tt", "talking-stick":
		return len(argv) == 2
	case "npx", "bunx", "pnpm", "node":
		return slices.ContainsFunc(argv[1:], func(a string) bool { return strings.Contains(a, "talking-stick") })
	}
	return false
}

// in adds the file's name to a failure on its bytes.
func in(file string, err error) error {
	switch e := err.(type) {
	case *confedit.MalformedError:
		e.File = file
	case *confedit.PathError:
		e.File = file
	}
	return err
}
