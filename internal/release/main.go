// Command release builds what users install, from a commit, and writes it into a directory:
//
//	go run ./internal/release                       everything, of HEAD, into dist
//	go run ./internal/release -systems linux/amd64  for one system
//
// For each system it makes an archive and a package of npm, for Linux a Debian package as well, and for all
// of them the plugins, the bill of materials and SHA256SUMS. It builds the commit's own files, not those of
// the working tree, and every time in an output is the commit's. So two builds of one commit are equal byte
// by byte, if both use the same version of Go.
//
// It needs Go and git, and the network only where the module cache lacks a module. What carries names of the project's owner
// stands in [project].
//
// See docs/decisions/releases-and-dependencies.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	r := release{progress: os.Stderr}
	systems := "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64"
	flag.StringVar(&r.out, "out", "dist", "the directory for the files; those that its SHA256SUMS names are removed first")
	flag.StringVar(&r.repo, "repo", ".", "the repository")
	flag.StringVar(&r.rev, "commit", "HEAD", "the commit")
	flag.StringVar(&systems, "systems", systems, "what to build for")

	flag.Parse()

	var err error
	if r.systems, err = parseSystems(systems); err == nil && flag.NArg() > 0 {
		err = fmt.Errorf("it takes no arguments, but got %q", flag.Arg(0))
	}
	if err == nil {
		err = r.makeFiles(context.Background())
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one run of the program.
type release struct {
	repo, rev string
	out       string
	systems   []system
	progress  io.Writer

	commit commit
	tree   string // a directory with the commit's files
	work   string // a directory for what is made on the way
}

// makeFiles makes all files of a release. If it fails, what was in the directory before is still there.
func (r *release) makeFiles(ctx context.Context) (err error) {
	if r.work, err = os.MkdirTemp("", "tt-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)

	r.tree = filepath.Join(r.work, "tree")
	if r.commit, err = checkOut(ctx, r.repo, r.rev, r.tree); err != nil {
		return err
	}

	if r.commit.dirty {
		r.printProgress("uncommitted changes of %s are no part of it", r.repo)
	}
	r.printProgress("%s of %s, %s", r.commit.version, r.commit.hash[:10], r.commit.date.Format("2006-01-02 15:04:05"))

	var built []program
	for _, s := range r.systems {
		r.printProgress("build %s", s)
		p, err := r.buildProgram(ctx, s)
		if err != nil {
			return err
		}
		built = append(built, p)
	}

	pages, err := r.makePages(ctx, built)
	if err != nil {
		return err
	}
	modules, err := r.listModules(ctx, built)
	if err != nil {
		return err
	}

	files, err := r.makePackages(built, pages, modules)
	if err != nil {
		return err
	}

	own, err := r.readTexts()
	if err != nil {
		return err
	}
	plugins, err := r.makePlugins(ctx, own)
	if err != nil {
		return err
	}
	files = append(files, plugins...)

	bill, err := r.makeBill(modules)
	if err != nil {
		return err
	}
	files = append(files, file{fmt.Sprintf("tt_%s_sbom.cdx.json", r.commit.version), 0o644, bill})

	// Only now does the output directory change.
	return r.writeFiles(files)
}

// makePackages makes what users install: for each system an archive and a package of npm, for Linux a Debian
// package, and the package of npm that brings one of the others.
func (r *release) makePackages(built []program, pages []file, modules []module) (files []file, err error) {
	own, err := r.readTexts()
	if err != nil {
		return nil, err
	}

	for _, p := range built {
		texts := append(slices.Clip(own), thirdPartyText(modules, p.system))
		a, err := r.makeArchive(p, pages, texts)
		if err != nil {
			return nil, err
		}
		n, err := r.npmProgram(p, texts)
		if err != nil {
			return nil, err
		}
		files = append(files, a, n)

		// Debian packages are for Linux.
		if p.os == "linux" {
			d, err := r.makeDeb(p, pages, texts)
			if err != nil {
				return nil, err
			}
			files = append(files, d)
		}
	}

	n, err := r.npmWrapper(own)
	return append(files, n), err
}

func (r *release) printProgress(format string, args ...any) {
	fmt.Fprintf(r.progress, format+"\n", args...)
}
