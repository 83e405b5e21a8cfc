package rescue

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// snapshot describes all files below a directory, but for those with the names in without.
func snapshot(t testing.TB, top string, without ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(without, d.Name()) && path != top:
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		}
		rel, err := filepath.Rel(top, path)
		all[rel] = describe(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// describe describes a file so that two descriptions are the same if the files are.
func describe(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "nothing"
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path)
		return "link to " + to
	case !info.Mode().IsRegular():
		return info.Mode().String()
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %d bytes %x %.40q", info.Mode(), len(b), sha256.Sum256(b), b)
}

// named are paths in which differences are all right. A directory, with / at its end, stands for everything
// below.
type named map[string]bool

func (n named) has(path string) bool {
	if n[path] || n["./"] || n[strings.TrimSuffix(path, "/")] {
		return true
	}
	for i, c := range path {
		if c == '/' && n[path[:i+1]] {
			return true
		}
	}
	return false
}

func compare(t testing.TB, what string, before, after map[string]string, but named) {
	t.Helper()
	for path, b := range before {
		if a := after[path]; a != b && !but.has(path) {
			t.Errorf("%s: %q was\n%s, is\n%s", what, path, b, a)
		}
	}
	for path, a := range after {
		if _, ok := before[path]; !ok && !but.has(path) {
			t.Errorf("%s: %q is new:\n%s", what, path, a)
		}
	}
}
