package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// The texts that packages bring along.
const (
	licence    = "LICENSE"
	changes    = "CHANGELOG.md"
	thirdParty = "THIRD-PARTY.txt"
)

// module is a module that a program is linked from, or Go's own library.
type module struct {
	path, version string
	sum           string   // as go.sum has it; empty for Go's library
	systems       []string // which programs have it
	rights        []file   // its licences and notices
	licences      []string // by their names in SPDX
}

// goLibrary is the name of Go's own library among modules.
const goLibrary = "std"

// listModules lists what the programs are linked from, as they say themselves, with the licences that lie in
// the module cache.
func (r *release) listModules(ctx context.Context, built []program) ([]module, error) {
	found := map[string]*module{}
	add := func(p program, path, version, sum string) error {
		m := found[path]
		if m == nil {
			m = &module{path: path, version: version, sum: sum}
			found[path] = m
		}

		// A release names one version of each module.
		if m.version != version {
			return fmt.Errorf("%s is linked from %s %s, others from %s", p.system, path, version, m.version)
		}

		m.systems = append(m.systems, p.system.String())
		return nil
	}

	for _, p := range built {
		if err := add(p, goLibrary, strings.TrimPrefix(p.info.GoVersion, "go"), ""); err != nil {
			return nil, err
		}

		for _, d := range p.info.Deps {
			if d.Replace != nil {
				d = d.Replace
			}

			if err := add(p, d.Path, d.Version, d.Sum); err != nil {
				return nil, err
			}
		}
	}

	dirs, err := r.moduleDirs(ctx, found)
	if err != nil {
		return nil, err
	}

	var all []module
	for path, m := range found {
		if m.rights, err = rightsIn(dirs[path]); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}

		if m.licences = licencesOf(m.rights); len(m.licences) == 0 {
			return nil, fmt.Errorf("%s has no licence that is known here (in %s)", path, dirs[path])
		}
		all = append(all, *m)
	}

	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return all, nil
}

// moduleDirs finds where modules lie.
func (r *release) moduleDirs(ctx context.Context, of map[string]*module) (map[string]string, error) {
	host := system{runtime.GOOS, runtime.GOARCH}
	root, err := r.readOutput(ctx, host, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}

	dirs := map[string]string{goLibrary: strings.TrimSpace(string(root))}

	// Go's library is no module that go list would find.
	args := []string{"list", "-m", "-json"}
	for path := range of {
		if path != goLibrary {
			args = append(args, path)
		}
	}

	out, err := r.readOutput(ctx, host, "go", args...)
	if err != nil {
		return nil, err
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m struct{ Path, Dir string }
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return dirs, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}

		dirs[m.Path] = m.Dir
	}
}

// rightsName matches the files in which a module says who may do what with it.
var rightsName = regexp.MustCompile(`(?i)^(.*licen[cs]e.*|copying.*|copyright.*|notice.*|patents)$`)

// rightsIn reads these files of a module.
func rightsIn(dir string) (rights []file, err error) {
	if dir == "" {
		return nil, errors.New("it isn't in the module cache")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}

	for _, e := range entries {
		if !e.Type().IsRegular() || !rightsName.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}

		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		rights = append(rights, file{e.Name(), 0o644, b})
	}
	return rights, nil
}

// licencesOf tells which licences texts are. One that isn't known is a reason to look at it, so it has no
// name here.
func licencesOf(rights []file) (names []string) {
	for _, f := range rights {
		text := strings.Join(strings.Fields(string(f.data)), " ")
		has := func(parts ...string) bool {
			return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
		}

		// Each licence is told by words that all its copies have.
		for name, is := range map[string]bool{
			"Apache-2.0":   has("Apache License", "Version 2.0"),
			"MIT":          has("Permission is hereby granted, free of charge"),
			"BSD-3-Clause": has("Redistributions in binary form", "endorse or promote products"),
			"BSD-2-Clause": has("Redistributions in binary form") && !has("endorse or promote products"),
		} {
			if is && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}

	slices.Sort(names)
	return names
}

// readTexts are what packages bring along of the project's own: who may do what with it, what it is, what has
// changed.
func (r *release) readTexts() (texts []file, err error) {
	for _, name := range []string{licence, "README.md", changes} {
		b, err := os.ReadFile(filepath.Join(r.tree, name))
		if err != nil {
			return nil, err
		}
		texts = append(texts, file{name, 0o644, b})
	}
	return texts, nil
}

// thirdPartyText holds the licences and notices of the modules that the program of a system is linked from.
func thirdPartyText(modules []module, s system) file {
	var b bytes.Buffer
	b.WriteString("tt is linked from the modules below. Their licences and notices follow, as they came with them.\n")

	for _, m := range modules {
		if !slices.Contains(m.systems, s.String()) {
			continue
		}

		for _, f := range m.rights {
			title := fmt.Sprintf("%s %s, %s", m.path, m.version, f.name)
			fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", title, strings.Repeat("=", len(title)), bytes.TrimSpace(f.data))
		}
	}
	return file{thirdParty, 0o644, b.Bytes()}
}
