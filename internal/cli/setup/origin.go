package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
)

// The ways by which the program came to where it lies.
const (
	byDeb     = "deb"
	byNpm     = "npm"
	byBrew    = "brew"
	byArchive = "archive" // a release, unpacked by hand
	byGo      = "go"      // built from a clone, and put elsewhere
	byClone   = "clone"   // built in a clone, and still there
)

// origin is how a program came to where it lies.
type origin struct {
	way     string
	dir     string // deb: the root of the file system; npm: the prefix or the project; clone: its top
	pkg     string // deb, npm, brew: the package that a person installs
	native  string // npm: the package that holds the program
	wrapper string // npm: the script that starts the program, in the package of pkg
	project bool   // npm: installed for a project instead of for a user
}

// originOf tells how a program came to where it lies, by its path and by what lies around it. It starts no
// other program. released says whether the program is one of a release.
func originOf(exe string, released bool) origin {
	// A link in PATH says nothing of how its target came there.
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}

	for _, find := range []func(string) (origin, bool){ofNpm, ofBrew, ofDeb} {
		if o, ok := find(exe); ok {
			return o
		}
	}

	if released {
		return origin{way: byArchive}
	}

	for _, dir := range directoriesAbove(exe) {
		if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && isOurs(mod) {
			return origin{way: byClone, dir: dir}
		}
	}

	return origin{way: byGo}
}

// directoriesAbove lists the directories that a file lies in, the nearest first.
func directoriesAbove(file string) (dirs []string) {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == filepath.Dir(dir) {
			return dirs
		}
	}
}

// isOurs reports whether a go.mod is that of the module this program was built from.
func isOurs(mod []byte) bool {
	info, ok := debug.ReadBuildInfo()
	first, _, _ := bytes.Cut(mod, []byte("\n"))
	return ok && string(bytes.TrimSpace(first)) == "module "+info.Main.Path
}

// npmPackage is what a package of npm says of itself.
type npmPackage struct {
	Name      string `json:"name"`
	Installed string `json:"installedBy"` // our mark: the package that brings this one
}

// ofNpm finds the package of npm that holds a program. One package a system holds it, and brings along a mark
// that names the package that people install.
func ofNpm(exe string) (origin, bool) {
	const folder = "node_modules"
	dirs := directoriesAbove(exe)
	for i, dir := range dirs {
		var p npmPackage
		b, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil || json.Unmarshal(b, &p) != nil || p.Installed == "" {
			continue
		}

		o := origin{way: byNpm, pkg: p.Installed, native: p.Name}
		for _, outer := range dirs[i:] {
			if filepath.Base(outer) != folder {
				continue
			}

			o.dir = filepath.Dir(outer)
			script := filepath.Join(outer, filepath.FromSlash(o.pkg), "bin", "tt.js")
			if _, err := os.Stat(script); err == nil && o.wrapper == "" {
				o.wrapper = script
			}
		}

		if o.dir == "" {
			// A package outside of node_modules was unpacked by hand.
			return o, false
		}

		if _, err := os.Stat(filepath.Join(o.dir, "package.json")); err == nil {
			o.project = true
		} else if filepath.Base(o.dir) == "lib" {
			// Outside of Windows, npm puts what isn't a project's below lib.
			o.dir = filepath.Dir(o.dir)
		}

		return o, true
	}

	return origin{}, false
}

// ofBrew finds the formula of Homebrew that holds a program.
func ofBrew(exe string) (origin, bool) {
	_, rest, ok := strings.Cut(filepath.ToSlash(exe), "/Cellar/")
	formula, _, inside := strings.Cut(rest, "/")
	return origin{way: byBrew, pkg: formula}, ok && inside
}

// listName is the name of dpkg's list of the files of a package.
var listName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([a-z0-9][a-z0-9+.-]+)(:[a-z0-9-]+)?\.list$`)
})

// ofDeb finds the Debian package that a program belongs to. What dpkg has installed below another root counts
// as well.
func ofDeb(exe string) (origin, bool) {
	for _, root := range directoriesAbove(exe) {
		info := filepath.Join(root, "var", "lib", "dpkg", "info")
		lists, err := os.ReadDir(info)
		if err != nil {
			continue
		}

		rel, err := filepath.Rel(root, exe)
		if err != nil {
			continue
		}

		// dpkg lists absolute paths, one a line.
		line := []byte("\n/" + filepath.ToSlash(rel) + "\n")
		for _, l := range lists {
			m := listName().FindStringSubmatch(l.Name())
			if m == nil {
				continue
			}

			files, err := os.ReadFile(filepath.Join(info, l.Name()))
			if err == nil && bytes.Contains(files, line) {
				return origin{way: byDeb, dir: root, pkg: m[1]}, true
			}
		}
	}

	return origin{}, false
}
