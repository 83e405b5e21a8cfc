package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVersions: a tag makes a version, and the sources and the list of changes have to agree with it. Without
// a tag the version comes before that of the sources, and says of which commit it is.
func TestVersions(t *testing.T) {
	c := commit{hash: "7c3d1d6aaabbbcccdddeee", date: time.Date(2026, 11, 24, 10, 9, 8, 0, time.UTC)}
	for _, x := range []struct {
		said, changes string
		tags          []string
		want, wrong   string
	}{
		{said: "0.2.0", want: "0.2.0-20261124100908.g7c3d1d6aaa"},
		{said: "0.2.0-rc.1", want: "0.2.0-rc.1.20261124100908.g7c3d1d6aaa"},
		{said: "0.2.0", tags: []string{"nightly", "v2"}, want: "0.2.0-20261124100908.g7c3d1d6aaa"},
		{
			said: "0.2.0", tags: []string{"v0.2.0", "latest"}, changes: "# Changes\n\n## 0.2.0, 2026-11-24\n",
			want: "0.2.0",
		},
		{
			said: "0.2.0", tags: []string{"v0.2.0"}, changes: "# Changes\n\n## 0.1.0\n",
			wrong: "CHANGELOG.md has no section for 0.2.0",
		},
		{
			said: "0.2.0", tags: []string{"v0.3.0"},
			wrong: "the tag is v0.3.0, and internal/cli/app/version.go says 0.2.0",
		},
		{said: "0.2.0", tags: []string{"v0.2.0", "v0.3.0"}, wrong: "several versions: 0.2.0, 0.3.0"},
		{said: "next", wrong: "is no version"},
	} {
		tree := t.TempDir()
		for name, text := range map[string]string{
			"internal/cli/app/version.go": "package app\n\nvar (\n\tversion = \"" + x.said + "\" // of it\n\tcommit string\n)\n",
			"CHANGELOG.md":                x.changes,
		} {
			path := filepath.Join(tree, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}

		got, err := c.versionOf(tree, x.tags)
		if x.wrong == "" && (err != nil || got != x.want) ||
			x.wrong != "" && (err == nil || !strings.Contains(err.Error(), x.wrong)) {
			t.Errorf("%s with the tags %q: %q, %v", x.said, x.tags, got, err)
		}
	}
}

// TestDebianVersions: Debian orders what comes before a release before it, and takes none of it for a
// packager's revision.
func TestDebianVersions(t *testing.T) {
	for version, want := range map[string]string{
		"0.2.0": "0.2.0", "0.2.0-20261124100908.g7c3d1d6aaa": "0.2.0~20261124100908.g7c3d1d6aaa",
		"0.2.0-rc-1.2": "0.2.0~rc.1.2",
	} {
		if got := debVersion(version); got != want {
			t.Errorf("%s is %s in Debian, want %s", version, got, want)
		}
	}
}

// TestSystems: the flag -systems takes systems that every kind of package has a name for.
func TestSystems(t *testing.T) {
	if got, err := parseSystems("linux/arm64 windows/amd64"); err != nil ||
		len(got) != 2 ||
		got[1].fileName("tt") != "tt.exe" ||
		npmName(got[1]) != project.npm+"-win32-x64" {
		t.Errorf("got %v, %v", got, err)
	}

	for _, wrong := range []string{"", "linux", "plan9/amd64", "linux/riscv64"} {
		if got, err := parseSystems(wrong); err == nil {
			t.Errorf("%q means %v", wrong, got)
		}
	}
}

// TestLicences: a licence is told by its text, and one that isn't known has no name.
func TestLicences(t *testing.T) {
	bsd := "Redistributions in binary form must reproduce the above copyright\n notice"
	for text, want := range map[string]string{
		"Permission is hereby granted,\n\tfree of charge, to any person": "MIT",
		"Apache License\n   Version 2.0, January 2004":                   "Apache-2.0",
		bsd: "BSD-2-Clause",
		bsd + "… to endorse or promote\nproducts": "BSD-3-Clause",
		"All rights reserved.":                    "",
	} {
		if got := strings.Join(licencesOf([]file{{data: []byte(text)}}), " "); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestThirdParty: a package brings the licences of what its own program is linked from, and of nothing else.
func TestThirdParty(t *testing.T) {
	modules := []module{
		{
			path: "example.org/both", version: "v1", systems: []string{"linux/amd64", "windows/amd64"},
			rights: []file{{name: "LICENSE", data: []byte("Take it.\n")}},
		},
		{
			path: "example.org/windows", version: "v2", systems: []string{"windows/amd64"},
			rights: []file{{name: "NOTICE", data: []byte("Mine.")}},
		},
	}

	text := string(thirdPartyText(modules, system{"linux", "amd64"}).data)
	if !strings.Contains(text, "\nexample.org/both v1, LICENSE\n=") ||
		!strings.Contains(text, "\nTake it.\n") ||
		strings.Contains(text, "windows") {
		t.Errorf("on Linux it says\n%s", text)
	}
	if text := string(thirdPartyText(modules, system{"windows", "amd64"}).data); !strings.Contains(text, "\nMine.\n") {
		t.Errorf("on Windows it says\n%s", text)
	}
}
