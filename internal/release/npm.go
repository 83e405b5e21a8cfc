package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
)

// What Node calls the systems and processors of Go.
var (
	nodeSystem    = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	nodeProcessor = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// npmName is the package of npm that holds the program for a system. The wrapper makes the same name from
// what Node says.
func npmName(s system) string {
	return project.npm + "-" + nodeSystem[s.os] + "-" + nodeProcessor[s.arch]
}

// manifest is a package.json.
type manifest struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	License     string            `json:"license"`
	Homepage    string            `json:"homepage,omitempty"`
	Bin         map[string]string `json:"bin,omitempty"`
	Files       []string          `json:"files"`
	Engines     map[string]string `json:"engines,omitempty"`
	OS          []string          `json:"os,omitempty"`
	CPU         []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	Publish     map[string]string `json:"publishConfig"`

	// InstalledBy names the package that brings this one. By it tt self-update tells that npm has installed
	// the program.
	InstalledBy string `json:"installedBy,omitempty"`
}

func (r *release) newManifest(name, description string, files ...string) manifest {
	return manifest{
		Name: name, Version: r.commit.version, Description: description, License: "MIT",
		Homepage: project.published, Files: files,

		// By itself, npm takes a package with an owner's name for private.
		Publish: map[string]string{"access": "public"},
	}
}

// npmProgram makes the package of npm that holds the program for one system. Elsewhere npm doesn't install
// it.
func (r *release) npmProgram(p program, texts []file) (file, error) {
	m := r.newManifest(npmName(p.system), fmt.Sprintf("The program of %s for %s", project.npm, p.system), "bin")
	m.OS, m.CPU, m.InstalledBy = []string{nodeSystem[p.os]}, []string{nodeProcessor[p.arch]}, project.npm

	in := p.filesIn("bin/")
	for _, f := range texts {
		if f.name == licence || f.name == thirdParty {
			in = append(in, f)
		}
	}

	readme := fmt.Sprintf("# %s\n\n%s. Install `%s`, which brings it.\n", m.Name, m.Description, project.npm)
	return r.npmPack(m, append(in, file{"README.md", 0o644, []byte(readme)}))
}

//go:embed npm/tt.js
var wrapper []byte

// npmWrapper makes the package of npm that users install. It depends on those of all systems, of which npm
// installs the one that fits, and its command runs the program in it.
func (r *release) npmWrapper(texts []file) (file, error) {
	m := r.newManifest(project.npm, project.summary, "bin")
	m.Bin, m.Engines = map[string]string{"tt": "bin/tt.js"}, map[string]string{"node": ">=18"}
	m.Optional = map[string]string{}
	for _, s := range r.systems {
		m.Optional[npmName(s)] = r.commit.version
	}

	in := []file{{"bin/tt.js", 0o755, wrapper}}
	for _, f := range texts {
		if f.name == licence || f.name == "README.md" {
			in = append(in, f)
		}
	}

	return r.npmPack(m, in)
}

// npmPack packs a package as npm pack does, with one time for everything.
func (r *release) npmPack(m manifest, in []file) (file, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(m); err != nil {
		return file{}, err
	}

	in = append(in, file{"package.json", 0o644, b.Bytes()})
	for i := range in {
		in[i].name = "package/" + in[i].name
	}

	data, err := packTarGz(in, r.commit.date, "")
	name := strings.ReplaceAll(strings.TrimPrefix(m.Name, "@"), "/", "-")
	return file{fmt.Sprintf("%s-%s.tgz", name, r.commit.version), 0o644, data}, err
}
