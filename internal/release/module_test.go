package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
)

// publishedPath is a path as an owner might choose it.
const publishedPath = "example.org/acme/talking-stick"

// TestMakeModule: make module sets the path of the module wherever the old one is meant, and refuses what isn't a
// path without changing anything.
func TestMakeModule(t *testing.T) {
	needs(t, "make")
	files := map[string]string{
		"go.mod":     "module talkingstick\n\ngo 1.26.0\n",
		"main.go":    "package main\n\nimport (\n\t\"fmt\"\n\n\t\"talkingstick/stick\"\n)\n\nconst schema, ref = \"talkingstick\", \"refs/talkingstick/kept\"\n",
		"Makefile":   readText(t, "../../Makefile"),
		".ci/module": readText(t, "../../.ci/module"),
	}

	dir := filepath.Join(t.TempDir(), "a clone")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}

	for _, bad := range []string{
		"", "talkingstick", "acme/tt", "https://example.org/tt", "example.org/", "example.org//tt",
		"example.org/a b", "/example.org/tt",
	} {
		out, err := makeModule(dir, bad)
		if err == nil || !strings.Contains(out, "a module path is a host and a path") {
			t.Errorf("%q: %v: %s", bad, err, out)
		}

		for name, text := range files {
			if got := readText(t, filepath.Join(dir, name)); got != text {
				t.Errorf("%q has changed %s to %q", bad, name, got)
			}
		}
	}

	out, err := makeModule(dir, publishedPath)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	for name, want := range map[string]string{
		"go.mod":  strings.Replace(files["go.mod"], "talkingstick", publishedPath, 1),
		"main.go": strings.Replace(files["main.go"], "\"talkingstick/", "\""+publishedPath+"/", 1),
	} {
		if got := readText(t, filepath.Join(dir, name)); got != want {
			t.Errorf("%s is %q instead of %q", name, got, want)
		}
	}

	if left, err := filepath.Glob(filepath.Join(dir, "*.old")); err != nil || len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

// TestInstallByPath installs a published program as a user does, by its path and version, from a module proxy of
// files. Every module that it needs comes from the cache of modules.
func TestInstallByPath(t *testing.T) {
	testenv.SkipToFull(t, *long, "the program installed by go install, from a module proxy of files")
	needs(t, "make")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()

	work := t.TempDir()
	repository, tree := filepath.Join(work, "git"), filepath.Join(work, "tree")
	if err := commitTree(repository); err != nil {
		t.Fatal(err)
	}
	if _, err := checkOut(ctx, repository, "HEAD", tree); err != nil {
		t.Fatal(err)
	}

	if out, err := makeModule(tree, publishedPath); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	const version = "v0.0.1"
	proxy := filepath.Join(work, "proxy")
	publishModule(t, tree, proxy, version)
	cached, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}

	install := exec.CommandContext(ctx, "go", "install", publishedPath+"/cmd/...@"+version)
	install.Dir = work
	install.Env = append(os.Environ(),
		"GOBIN="+filepath.Join(work, "bin"), "GOMODCACHE="+filepath.Join(work, "modules"), "GOFLAGS=-modcacherw -trimpath", "GOSUMDB=off", "CGO_ENABLED=0",
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(strings.TrimSpace(string(cached)), "cache", "download"))
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}

	out, err := exec.CommandContext(ctx, filepath.Join(work, "bin", "tt"), "version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), strings.TrimPrefix(version, "v")) {
		t.Errorf("tt version: %v: %s", err, out)
	}
}

// makeModule runs make module in a directory.
func makeModule(dir, path string) (string, error) {
	c := exec.Command("make", "-s", "module", "PATH="+path)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}

// publishModule puts a version of a module into a module proxy that is a directory.
func publishModule(t *testing.T, tree, proxy, version string) {
	t.Helper()
	dir := filepath.Join(proxy, publishedPath, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}

	for name, text := range map[string]string{
		"list":            version + "\n",
		version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, version),
		version + ".mod":  readText(t, filepath.Join(tree, "go.mod")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	file, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(file)
	err = filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(tree, path)
		if err != nil {
			return err
		}

		f, err := w.Create(publishedPath + "@" + version + "/" + filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		_, err = f.Write([]byte(readText(t, path)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
