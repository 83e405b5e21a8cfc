package scene

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing/fstest"
)

// templates are the repositories that stories begin with. Each is made once for a test binary, because making
// it starts more processes of git than many a story does afterwards. A story writes the files of a copy.
var templates struct {
	mu   sync.Mutex
	made map[string]fstest.MapFS
}

// copyTemplate makes the workspace a copy of a template. build makes the template in the workspace of the
// first story that asks.
func (s *Scene) copyTemplate(name string, build func()) {
	s.Helper()
	templates.mu.Lock()
	defer templates.mu.Unlock()

	if files := templates.made[name]; files != nil {
		if err := os.CopyFS(s.Work, files); err != nil {
			s.Fatal(err)
		}
		return
	}

	build()
	files, err := readTree(s.Work)
	if err != nil {
		s.Fatal(err)
	}
	if templates.made == nil {
		templates.made = map[string]fstest.MapFS{}
	}
	templates.made[name] = files
}

// readTree reads a directory with everything in it, without what [newScene] has made there.
func readTree(root string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		if d.Name() == ".talking-stick" {
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
