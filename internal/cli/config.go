package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/config"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// configResult says where what tt does is set. It has no values of variables, because the address of a
// database may hold a password.
type configResult struct {
	DataDir     string   `json:"data_dir"`               // where the database and copies of work lie
	OnServer    bool     `json:"on_server"`              // the database is a PostgreSQL server's
	UserFile    string   `json:"user_file,omitempty"`    // the file with the user's settings; empty if there is none
	ProjectFile string   `json:"project_file,omitempty"` // the file with the project's settings; empty if there is none
	Environment []string `json:"environment"`            // the variables of tt that are set
}

func (a *app) configCmd() *cobra.Command {
	return &cobra.Command{
		Use: "config", Short: "Show where things are set: files, variables, the room", Args: noArgs,
		Long: "Show which files and variables set what tt does here. A flag comes before a variable, " +
			"a variable before your file, and your file\n" +
			"before the project's. The rules of a room are kept with it: tt policy.",
		RunE: func(c *cobra.Command, args []string) error {
			res, err := a.whereSet()
			if err != nil {
				return err
			}

			a.reads = true
			return a.print(res, func(p *page) { p.whereSet(res) })
		},
	}
}

// whereSet finds the files and variables that set something here.
func (a *app) whereSet() (configResult, error) {
	res := configResult{Environment: []string{}}
	var err error
	if res.DataDir, err = a.dataDir(); err != nil {
		return res, err
	}

	if err := a.readSettings(); err != nil {
		return res, err
	}

	res.OnServer = a.database != ""

	// A file that isn't there sets nothing.
	if path := filepath.Join(a.configDir(), filepath.FromSlash(config.UserFile)); filepath.IsAbs(path) && isThere(path) {
		res.UserFile = path
	}

	if place, err := workspace.Resolve(".", a.workspaceEnv()); err == nil {
		if path := filepath.Join(place.Root, config.FileName); isThere(path) {
			res.ProjectFile = path
		}
	}

	for _, v := range variables {
		// Of variables that others share, such as HOME, nobody needs to be told.
		isOwn := slices.ContainsFunc([]string{"TT_", "TALKING_STICK_", "AI_"}, func(start string) bool {
			return strings.HasPrefix(v.name, start)
		})
		if isOwn && a.Getenv(v.name) != "" {
			res.Environment = append(res.Environment, v.name)
		}
	}

	return res, nil
}

// isThere reports whether there is a file.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// whereSet shows where things are set, and what explains or changes each.
func (p *page) whereSet(res configResult) {
	orNone := func(path string) shown {
		if path == "" {
			return "none"
		}

		return file(path)
	}

	database := stick.Words("in a file there")
	if res.OnServer {
		database = "on a PostgreSQL server"
	}

	p.linef("%-12s %s; the database is %s", "data", file(res.DataDir), database)
	p.linef("%-12s %s", stick.Words("your file"), orNone(res.UserFile))
	p.linef("%-12s %s", stick.Words("the project"), orNone(res.ProjectFile))
	for _, name := range res.Environment {
		p.linef("%-12s %s", "variable", name)
	}

	p.linef("the rules of the room: %s; what variables mean: %s",
		p.next(stick.Cmd("tt policy")), p.next(stick.Cmd("tt help environment")))
}
