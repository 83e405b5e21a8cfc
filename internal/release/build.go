package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// system is what a program is built for, in Go's words.
type system struct{ os, arch string }

func (s system) String() string { return s.os + "/" + s.arch }

// fileName is the name of the file of a program.
func (s system) fileName(program string) string {
	if s.os == "windows" {
		return program + ".exe"
	}
	return program
}

func parseSystems(list string) (systems []system, err error) {
	for _, word := range strings.Fields(list) {
		os, arch, ok := strings.Cut(word, "/")
		if !ok || nodeSystem[os] == "" || nodeProcessor[arch] == "" {
			return nil, fmt.Errorf("%q isn't a system that releases are made for", word)
		}
		systems = append(systems, system{os, arch})
	}

	if len(systems) == 0 {
		return nil, errors.New("there is no system to build for")
	}
	return systems, nil
}

// program is tt as it is built for a system, and tt-full, which lies beside it wherever it is installed.
type program struct {
	system
	path       string // where tt lies
	data, full []byte
	info       *buildinfo.BuildInfo // of tt-full, which has all that tt is linked from
}

// buildProgram builds both programs for a system.
func (r *release) buildProgram(ctx context.Context, s system) (p program, err error) {
	dir := filepath.Join(r.work, s.os+"_"+s.arch)
	p = program{system: s, path: filepath.Join(dir, s.fileName("tt"))}
	args := []string{
		"build", "-trimpath", "-buildvcs=false", "-ldflags", r.linkerFlags(), "-o", dir + string(filepath.Separator),
		"./cmd/tt", "./cmd/tt-full",
	}
	if err := r.goTool(ctx, s, args...); err != nil {
		return p, err
	}

	if p.data, err = os.ReadFile(p.path); err != nil {
		return p, err
	}
	if p.full, err = os.ReadFile(filepath.Join(dir, s.fileName("tt-full"))); err != nil {
		return p, err
	}

	p.info, err = buildinfo.Read(bytes.NewReader(p.full))
	return p, err
}

// filesIn are the programs as files in a directory of a package.
func (p program) filesIn(dir string) []file {
	return []file{{dir + p.fileName("tt-full"), 0o755, p.full}, {dir + p.fileName("tt"), 0o755, p.data}}
}

// linkerFlags say what a release says of itself, and leave out what only a debugger needs.
func (r *release) linkerFlags() string {
	flags := []string{"-s", "-w"}
	for _, x := range [][2]string{
		{"version", r.commit.version},
		{"commit", r.commit.hash},
		{"date", r.commit.date.Format(time.RFC3339)},
		{"releases", project.published},
	} {
		if x[1] != "" {
			flags = append(flags, "-X", "talkingstick/internal/cli/app."+x[0]+"="+x[1])
		}
	}

	return strings.Join(flags, " ")
}

// goTool runs the go tool in the commit's tree, for a system. What the caller's environment would change in a
// build is left out.
func (r *release) goTool(ctx context.Context, s system, args ...string) error {
	_, err := r.readOutput(ctx, s, "go", args...)
	return err
}

// readOutput runs a program in the commit's tree and returns what it prints.
func (r *release) readOutput(ctx context.Context, s system, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = r.tree

	home := filepath.Join(r.work, "home")

	// What the caller has set for builds of its own would make other programs of the same commit.
	c.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		switch name {
		case "GOFLAGS", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT", "GOFIPS140", "GOWORK", "CGO_ENABLED",
			"TT_JSON", "NO_COLOR":
			return true
		}
		return false
	})

	c.Env = append(c.Env, "GOOS="+s.os, "GOARCH="+s.arch, "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")

	// Go needs its caches in the home directory; tt must not read the caller's settings there.
	if name != "go" {
		c.Env = append(c.Env, "HOME="+home, "USERPROFILE="+home)
	}

	out, err := c.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%s %s for %s: %w\n%s", filepath.Base(name), args[0], s, err, bytes.TrimSpace(exit.Stderr))
	}

	return out, err
}

// shells are those that the program completes for, with the names that they want files of completion to have.
var shells = map[string]string{"bash": "tt.bash", "zsh": "_tt", "fish": "tt.fish", "powershell": "tt.ps1"}

// makePages makes the files of completion and the manual pages, as completions/… and man/…: the program of
// this machine writes them.
func (r *release) makePages(ctx context.Context, built []program) (pages []file, err error) {
	// Only a program for this machine can run here.
	host := system{runtime.GOOS, runtime.GOARCH}
	i := slices.IndexFunc(built, func(p program) bool { return p.system == host })
	if i < 0 {
		p, err := r.buildProgram(ctx, host)
		if err != nil {
			return nil, err
		}
		built, i = []program{p}, 0
	}

	r.printProgress("completions and manual pages")
	for shell, name := range shells {
		out, err := r.readOutput(ctx, host, built[i].path, "completion", shell)
		if err != nil {
			return nil, err
		}
		pages = append(pages, file{"completions/" + name, 0o644, out})
	}

	dir := filepath.Join(r.work, "man")
	args := []string{"run", "-trimpath", "-buildvcs=false", "-ldflags", r.linkerFlags(), "./internal/manpages", dir}
	if err := r.goTool(ctx, host, args...); err != nil {
		return nil, err
	}

	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		pages = append(pages, file{"man/" + d.Name(), 0o644, b})
		return err
	})
	return sortFiles(pages), err
}
