package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// SelfUpdateResult says how this program was installed, and what brings a newer one.
type SelfUpdateResult struct {
	app.VersionResult
	Program     string   `json:"program"`           // where it lies
	InstalledBy string   `json:"installed_by"`      // deb, npm, brew, archive, go or clone
	Package     string   `json:"package,omitempty"` // of deb, npm or brew
	Files       []string `json:"files,omitempty"`   // what to get first, with `<version>` where the newer version stands
	From        string   `json:"from,omitempty"`    // where releases are published
	In          string   `json:"in,omitempty"`      // where to run the steps, if that isn't everywhere
	Steps       []string `json:"steps"`             // what to run, in this order
}

// See docs/decisions/releases-and-dependencies.md#tt-self-update.
func SelfUpdateCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "self-update", Short: "Print the commands that upgrade tt", Args: app.NoArgs,
		Long: "Show how this tt was installed, and print the commands that upgrade it: for a Debian\n" +
			"package, npm, Homebrew, an archive or a clone. It runs nothing, downloads nothing and " +
			"doesn't check for a newer version.\n\n" +
			"Commands that are waiting then go on as the older version. If the newer one changes the\n" +
			"database so that the older one can't use it, they end with the error upgraded; run them\n" +
			"again.",
		RunE: func(c *cobra.Command, args []string) error {
			if a.Exe == "" {
				return stick.Errorf(stick.CodeInternal, "the path of this program isn't known")
			}

			a.Reads = true
			res := selfUpdateOf(a.Exe)
			return a.Print(res, func(p *term.Page) { showSelfUpdate(p, res) })
		},
	}
}

// selfUpdateOf says what brings a newer program to where one lies.
func selfUpdateOf(exe string) SelfUpdateResult {
	o := originOf(exe, app.IsReleased())
	res := SelfUpdateResult{
		VersionResult: app.ThisBuild(), Program: exe, InstalledBy: o.way, Package: o.pkg, Steps: []string{},
	}
	run := func(line string, values ...any) { res.Steps = append(res.Steps, stick.Cmd(line, values...).String()) }
	system := runtime.GOOS + "_" + runtime.GOARCH
	switch o.way {
	case byDeb:
		file := fmt.Sprintf("%s_<version>_%s.deb", o.pkg, runtime.GOARCH)
		res.Files = []string{file}
		switch {
		case o.dir != filepath.Dir(o.dir):
			// The package lies below another root than /.
			run("dpkg --root <root> -i ./"+file, o.dir)
		case os.Geteuid() == 0:
			run("dpkg -i ./" + file)
		default:
			run("sudo dpkg -i ./" + file)
		}
	case byNpm:
		what := o.pkg + "@latest"
		if app.PublishedAt() == "" {
			// Without published releases the registry of npm has none either.
			for _, name := range []string{o.pkg, o.native} {
				file := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-")
				res.Files = append(res.Files, file+"-<version>.tgz")
			}

			what = "./" + strings.Join(res.Files, " ./")
		}

		if o.project {
			run("npm install --prefix <project> "+what, o.dir)
		} else {
			run("npm install --global --prefix <prefix> "+what, o.dir)
		}
	case byBrew:
		run("brew upgrade " + o.pkg)
	case byArchive:
		name, ending := "tt_<version>_"+system, ".tar.gz"
		if runtime.GOOS == "windows" {
			ending = ".zip"
		}

		res.Files = []string{name + ending}

		// The tar of Windows unpacks zip, too.
		run("tar -xf " + name + ending)
		if runtime.GOOS == "windows" {
			run("copy /y "+name+`\tt*.exe <directory>`, filepath.Dir(exe))
		} else {
			run("install -m 755 "+name+"/"+app.FullName+" "+name+"/tt <directory>", filepath.Dir(exe))
		}
	case byClone:
		run("git -C <clone> pull", o.dir)
		run("make -C <clone> build", o.dir)
	case byGo:
		res.In = "your clone"
		run("git pull")
		run(`CGO_ENABLED=0 go install -trimpath -ldflags "-s -w" ./cmd/...`)
	}

	if len(res.Files) > 0 {
		res.From = app.PublishedAt()
	}

	// Harnesses have files of the version that wrote them.
	run("tt install")
	return res
}

// ways say in words how a program was installed.
var ways = map[string]stick.Words{
	byDeb: "from the Debian package", byNpm: "by npm, from the package", byBrew: "by Homebrew, from the formula",
	byArchive: "from the archive of a release", byGo: "from a clone, by go install", byClone: "in a clone",
}

// showSelfUpdate shows what brings a newer program.
func showSelfUpdate(p *term.Page, res SelfUpdateResult) {
	p.Linef("tt %s, in %s", res.FullName(), res.Program)
	p.Rowf("installed %s %s", ways[res.InstalledBy], res.Package)
	from := stick.Words("from where you got this one")
	if res.From != "" {
		from = stick.Wordsf("from %s", res.From)
	}

	if len(res.Files) > 0 {
		p.Linef("to update, get %s %s, and run:", stick.Words(strings.Join(res.Files, " and ")), from)
	} else if res.In != "" {
		p.Linef("to update, run in %s:", stick.Words(res.In))
	} else {
		p.Linef("to update, run:")
	}

	for _, s := range res.Steps {
		p.Linef("  %s", stick.Words(s))
	}

	p.Linef("%s", p.Faint("the last step brings what harnesses have of tt to the newer version"))
}
