package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing/fstest"
)

// Template is a tree of files that many tests begin with, such as a repository with one commit: a copy takes less
// than the gits that make one. Its files are new in each copy, so git reads them once more. The zero value is ready
// for use.
type Template struct {
	mu    sync.Mutex
	files fstest.MapFS
}

// Copy makes dir a copy of the template. The first that asks has build make it in its own
// dir; entries named in without don't belong to it.
func (t *Template) Copy(dir string, build func() error, without ...string) error {
	files, isBuilt, err := t.read(dir, build, without)
	if err != nil || isBuilt {
		return err
	}
	return os.CopyFS(dir, files)
}

// read returns the files of the template, and whether dir is what they were just read from.
func (t *Template) read(dir string, build func() error, without []string) (files fs.FS, isBuilt bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files != nil {
		return t.files, false, nil
	}
	if err := build(); err != nil {
		return nil, false, err
	}

	made, err := readTree(dir, without)
	if err == nil {
		t.files = made
	}
	return made, true, err
}

// readTree reads a directory with everything in it.
func readTree(root string, without []string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if slices.Contains(without, d.Name()) {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}

		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !d.IsDir() {
			file.Data, err = os.ReadFile(path)
		}
		files[filepath.ToSlash(name)] = file
		return err
	})
	return files, err
}
