package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage is what `go list` says of a package.
type goPackage struct {
	Dir, ImportPath, Name, Export string
	GoFiles                       []string
}

// listPackages asks go list for packages. Those that it needs come first.
func listPackages(ctx context.Context, args ...string) ([]goPackage, error) {
	args = append([]string{"list", "-json=Dir,ImportPath,Name,Export,GoFiles"}, args...)
	c := exec.CommandContext(ctx, "go", args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}

	var all []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
}

// region is a part of a rewritten file that stands for mutants.
type region struct {
	mutants    []mutant
	start, end int
}

// rewriting is a way to put mutants into the files of packages.
type rewriting struct {
	added func(pkg string) []byte // the source of a file that each package has more
	file  func(path string, code []byte, mutants []mutant) ([]byte, []region, error)
}

// rewritten is packages' files with mutants in them.
type rewritten struct {
	replace map[string]string // the files of an overlay
	placed  map[int]bool      // the mutants that are in them, by their numbers
	unbuilt map[int]string    // the mutants whose region doesn't build, with the compiler's sentence
}

// rewritePackages writes packages' files with mutants in them into a folder.
func (w rewriting) rewritePackages(
	folder string, packages []goPackage, mutants []mutant, exports types.Importer,
) (*rewritten, error) {
	// Go list names files by whole paths.
	byFile := map[string][]mutant{}
	for _, m := range mutants {
		path, err := filepath.Abs(m.file)
		if err != nil {
			return nil, err
		}
		byFile[path] = append(byFile[path], m)
	}

	r := &rewritten{replace: map[string]string{}, placed: map[int]bool{}, unbuilt: map[int]string{}}
	for i, p := range packages {
		into := filepath.Join(folder, fmt.Sprint(i))
		if err := os.MkdirAll(into, 0o700); err != nil {
			return nil, err
		}

		if err := w.rewritePackage(r, into, p, byFile, exports); err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
	}
	return r, nil
}

// rewritePackage writes the files of one package. Regions that don't build are left out.
func (w rewriting) rewritePackage(
	r *rewritten, into string, p goPackage, byFile map[string][]mutant, exports types.Importer,
) error {
	for {
		files := map[string][]byte{filepath.Join(p.Dir, addedFile): w.added(p.Name)}
		regions := map[string][]region{}
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			code, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if files[path], regions[path], err = w.file(path, code, byFile[path]); err != nil {
				return err
			}
		}

		wrong, err := typeErrors(p.ImportPath, files, regions, exports)
		if err != nil {
			return err
		}

		maps.Copy(r.unbuilt, wrong)

		// What doesn't build is left out, and the rest is tried again.
		for path := range regions {
			byFile[path] = slices.DeleteFunc(byFile[path], func(m mutant) bool { return wrong[m.number] != "" })
		}

		if len(wrong) == 0 {
			return r.writeFiles(into, files, regions)
		}
	}
}

func (r *rewritten) writeFiles(into string, files map[string][]byte, regions map[string][]region) error {
	for path, code := range files {
		to := filepath.Join(into, filepath.Base(path))
		if err := os.WriteFile(to, code, 0o600); err != nil {
			return err
		}

		r.replace[path] = to
		for _, reg := range regions[path] {
			for _, m := range reg.mutants {
				r.placed[m.number] = true
			}
		}
	}
	return nil
}

// typeErrors returns the mutants whose regions the compiler would refuse, each with the first sentence about
// its region.
func typeErrors(
	path string, files map[string][]byte, regions map[string][]region, exports types.Importer,
) (map[int]string, error) {
	fset := token.NewFileSet()
	var trees []*ast.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		tree, err := parser.ParseFile(fset, name, files[name], parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}

	wrong := map[int]string{}
	var elsewhere error
	config := types.Config{Importer: exports, Error: func(err error) {
		at, sentence := token.Position{}, err.Error()
		if e := (types.Error{}); errors.As(err, &e) {
			at, sentence = fset.PositionFor(e.Pos, false), shorten(e.Msg)
		}

		reg, ok := regionAt(regions[at.Filename], at.Offset)

		// An error outside of all regions isn't that of a mutant.
		if !ok {
			elsewhere = cmp.Or(elsewhere, err)
		}
		for _, m := range reg.mutants {
			wrong[m.number] = cmp.Or(wrong[m.number], sentence)
		}
	}}

	// The errors come to the function above, one by one.
	config.Check(path, fset, trees, nil)
	if len(wrong) == 0 {
		return nil, elsewhere
	}
	return wrong, nil
}

// regionAt finds the region at an offset of a file. They stand in order.
func regionAt(regions []region, offset int) (region, bool) {
	i, found := slices.BinarySearchFunc(regions, offset, func(r region, offset int) int {
		switch {
		case r.end <= offset:
			return -1
		case r.start > offset:
			return 1
		}
		return 0
	})
	if !found {
		return region{}, false
	}
	return regions[i], true
}

// exportData imports what packages import, as the compiler wrote it.
func exportData(ctx context.Context, packages []goPackage) (types.Importer, error) {
	args := []string{"-export", "-deps"}
	for _, p := range packages {
		args = append(args, p.Dir)
	}
	all, err := listPackages(ctx, args...)
	if err != nil {
		return nil, err
	}

	// The chooser's imports, for packages that import neither.
	more, err := listPackages(ctx, "-export", "-deps", "os", "strconv")
	if err != nil {
		return nil, err
	}

	files := map[string]string{}
	for _, p := range append(all, more...) {
		files[p.ImportPath] = p.Export
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	return importer.ForCompiler(token.NewFileSet(), "gc", open), nil
}

// builds are the test binaries of packages with the files of an overlay instead of the tree's, built when
// they are asked for.
type builds struct {
	scratch string
	replace map[string]string
	done    map[string]string
}

// binaryFor returns the path of the test binary of the package in a folder, and none if it has no tests.
func (b *builds) binaryFor(ctx context.Context, dir string) (string, error) {
	if path, ok := b.done[dir]; ok {
		return path, nil
	}

	overlay := filepath.Join(b.scratch, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": b.replace})
	if err == nil {
		err = os.WriteFile(overlay, text, 0o600)
	}
	if err != nil {
		return "", err
	}

	binary := filepath.Join(b.scratch, strings.ReplaceAll(filepath.ToSlash(dir), "/", "_")+".test")
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary,
		"./"+filepath.ToSlash(dir))
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}

	// Where there are no tests, go test -c writes nothing.
	if _, err := os.Stat(binary); err != nil {
		binary = ""
	}

	b.done[dir] = binary
	return binary, nil
}
