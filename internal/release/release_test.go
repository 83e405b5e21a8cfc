package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
)

// needs finds programs, or skips the test.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("there is no %s here", p)
		}
	}
}

// content reads a directory of files.
func content(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = b
	}

	return all
}

// find returns the one file of a release whose name begins and ends in this way.
func find(t *testing.T, dir, begin, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, begin+"*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s…%s: found %q (%v)", begin, end, found, err)
	}
	return found[0]
}

// TestTwoBuildsAreEqual: two builds of one commit are equal byte by byte, whatever the time zone, the
// directory for temporary files and the flags for Go that somebody has set.
func TestTwoBuildsAreEqual(t *testing.T) {
	dir := made(t)
	same(t, content(t, filepath.Join(dir, "one")), content(t, filepath.Join(dir, "two")))
}

func same(t *testing.T, one, two map[string][]byte) {
	t.Helper()
	if len(one) < 5 || len(one) != len(two) {
		t.Errorf("there are %d and %d files", len(one), len(two))
	}

	for name, b := range one {
		if !bytes.Equal(b, two[name]) {
			t.Errorf("%s differs", name)
		}
	}
}

// TestSums: SHA256SUMS has the sum of each other file.
func TestSums(t *testing.T) {
	files := content(t, filepath.Join(made(t), "one"))
	lines := strings.Split(strings.TrimSpace(string(files[sumsName])), "\n")
	delete(files, sumsName)
	if len(lines) != len(files) || !slices.IsSorted(names(files)) {
		t.Errorf("there are %d files, and the sums of %d", len(files), len(lines))
	}

	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		if is := fmt.Sprintf("%x", sha256.Sum256(files[name])); files[name] == nil || is != sum {
			t.Errorf("%q: the sum is %s", line, is)
		}
	}
}

func names(files map[string][]byte) []string {
	var all []string
	for name := range files {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// entries reads a compressed tar archive. Every entry of it has the commit's time and belongs to root.
func entries(t *testing.T, archive []byte) map[string]*tar.Header {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the compressed file says that it is %q of %s", z.Name, z.ModTime)
	}

	all := map[string]*tar.Header{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 ||
			h.Gid != 0 ||
			h.Uname != "root" ||
			!h.ModTime.Equal(time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)) {
			t.Errorf("%s is %s's (%d:%d), of %s", h.Name, h.Uname, h.Uid, h.Gid, h.ModTime)
		}
		all[h.Name] = h
	}
}

// TestPluginsOfARelease: the archive of plugins is one folder with a marketplace, an extension and a package,
// of the release's version; the package of npm holds what lies in it.
func TestPluginsOfARelease(t *testing.T) {
	for end, want := range map[string][]string{
		"_plugins.tar.gz": {
			"LICENSE", "README.md", ".claude-plugin/marketplace.json",
			"talking-stick/.claude-plugin/plugin.json", "talking-stick/.mcp.json",
			"talking-stick/hooks/hooks.json", "talking-stick/skills/talking-stick/SKILL.md",
			"gemini/gemini-extension.json", "opencode/package.json",
		},
		".tgz": {"LICENSE", "package.json", "index.js", "plugin.js", "skills/talking-stick/SKILL.md"},
	} {
		begin, top := "tt_", ""
		if end == ".tgz" {
			begin, top = "talkingstick-opencode-", "package/"
		}
		path := find(t, filepath.Join(made(t), "one"), begin, end)
		if top == "" {
			top = strings.TrimSuffix(filepath.Base(path), ".tar.gz") + "/"
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}

		in := entries(t, b)
		for _, name := range want {
			if h := in[top+name]; h == nil || h.Mode != 0o644 || h.Size == 0 {
				t.Errorf("%s has %s: %+v", path, name, h)
			}
		}
	}
}

// TestArchiveHolds: an archive is one folder with the program, its texts, manual pages and completions.
func TestArchiveHolds(t *testing.T) {
	if host.os == "windows" {
		t.Skip("TestZip looks into the archive of Windows")
	}
	path := find(t, filepath.Join(made(t), "one"), "tt_", host.arch+".tar.gz")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	in, top := entries(t, b), strings.TrimSuffix(filepath.Base(path), ".tar.gz")+"/"
	for name, mode := range map[string]int64{
		"tt": 0o755, "tt-full": 0o755, "LICENSE": 0o644, "README.md": 0o644, "CHANGELOG.md": 0o644, "THIRD-PARTY.txt": 0o644,
		"man/man1/tt.1": 0o644, "man/man1/tt-wait.1": 0o644,
		"completions/tt.bash": 0o644, "completions/_tt": 0o644, "completions/tt.fish": 0o644,
		"completions/tt.ps1": 0o644,
	} {
		if h := in[top+name]; h == nil || h.Mode != mode || h.Size == 0 {
			t.Errorf("%s: %+v", name, h)
		}
	}

	for name := range in {
		if !strings.HasPrefix(name, top) {
			t.Errorf("%s lies outside of %s", name, top)
		}
	}
}

// TestBillNamesEveryModule: the bill of materials has each module that the program says it is linked from,
// and Go's own library, each with its licence.
func TestBillNamesEveryModule(t *testing.T) {
	dir := made(t)
	b, err := os.ReadFile(find(t, filepath.Join(dir, "one"), "tt_", "_sbom.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc bill
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != "CycloneDX" ||
		doc.Metadata.Timestamp != "2026-02-03T04:05:06Z" ||
		!strings.HasPrefix(doc.Metadata.Component.Version, "0.") {
		t.Errorf("it begins with %+v", doc.Metadata)
	}

	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, c := range doc.Components {
		known[c.Name] = true
		if len(c.Licences) == 0 || c.Version == "" {
			t.Errorf("%+v lacks something", c)
		}
		if c.Name != goLibrary && !bytes.Contains(mod, []byte(c.Name+" "+c.Version)) {
			t.Errorf("go.mod doesn't require %s %s", c.Name, c.Version)
		}
	}

	for _, name := range []string{
		goLibrary, "modernc.org/sqlite", "github.com/spf13/cobra", "github.com/jackc/pgx/v5",
	} {
		if !known[name] {
			t.Errorf("it lacks %s", name)
		}
	}

	if known["pgregory.net/rapid"] {
		t.Error("it has a module that only tests use")
	}
}

// TestAllSystems builds for all systems, which changes nothing for one of them, and once more for this one
// without anything that Go has kept.
func TestAllSystems(t *testing.T) {
	if !*long {
		testenv.Leaves(t, testenv.Full, "a release for all systems, and one built without a cache")
		t.Log("only with -release.long")
		return
	}

	dir := made(t)
	systems, err := parseSystems("linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64")
	if err != nil {
		t.Fatal(err)
	}
	all := filepath.Join(dir, "all")
	if err := makeRelease(all, systems...); err != nil {
		t.Fatal(err)
	}

	var endings []string
	for name := range content(t, all) {
		endings = append(endings, filepath.Ext(name))
	}
	slices.Sort(endings)

	// An archive for each system, and one of the plugins; a package of npm for each, one that picks among
	// them, and one for OpenCode.
	got := strings.Join(endings, " ")
	if got != " .deb .deb .gz .gz .gz .gz .gz .json .tgz .tgz .tgz .tgz .tgz .tgz .tgz .tgz .zip .zip" {
		t.Errorf("the files end in %s", got)
	}

	alone := content(t, filepath.Join(dir, "one"))
	for name, b := range content(t, all) {
		is, ok := alone[name]
		if ok && (strings.Contains(name, "_"+host.os+"_") || filepath.Ext(name) == ".deb") && !bytes.Equal(is, b) {
			t.Errorf("%s differs where other systems are built for as well", name)
		}
	}

	t.Setenv("GOCACHE", t.TempDir())
	anew := filepath.Join(dir, "anew")
	if err := makeRelease(anew, host); err != nil {
		t.Fatal(err)
	}
	same(t, content(t, filepath.Join(dir, "one")), content(t, anew))
}
