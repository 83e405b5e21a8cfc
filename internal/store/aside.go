package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/sqlite"
)

// ReplacedDatabases lists the directories with databases that a restore has replaced.
func ReplacedDatabases(dir string) []string {
	found, err := filepath.Glob(filepath.Join(dir, sqlite.ReplacedName+"-*"))
	if err != nil {
		return nil // only a bad pattern fails
	}
	return found
}

// DatabasesAside lists the directories with databases that a restore has replaced, or that the doctor has set aside.
func DatabasesAside(dir string) []string {
	damaged, err := filepath.Glob(filepath.Join(dir, "damaged-*"))
	if err != nil {
		return nil // only a bad pattern fails
	}
	return append(ReplacedDatabases(dir), damaged...)
}

// newAside makes a directory in the data directory for what is moved aside.
func newAside(dir, name string) (aside string, err error) {
	for n := 1; ; n++ {
		aside = filepath.Join(dir, fmt.Sprintf("%s-%d", name, n))
		if err = os.Mkdir(aside, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		err = plainfile.InheritPath(aside)
	}

	return aside, err
}
