package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/plainfile"
)

// Where several hosts share a database, a host is a data directory. It has an id of its own in a file there,
// because several machines may have one machine id: copies of an image do. Under which boot it writes is
// kept, so that the end of a boot ends what ran under it, and nothing of other hosts.
//
// A copy of a whole disk has the same id. It shows as two boots of one host that live at once, and then the
// older one takes a new id.
const hostFile = "host"

// ReadHost reads the id of a data directory. Where there is none, who writes makes one, and the directory; to
// who reads it is empty: that host has no checkouts.
func ReadHost(dir string, write bool, newID func() string) (string, error) {
	for {
		text, err := plainfile.Read(filepath.Join(dir, hostFile))
		if err == nil {
			id, _, _ := strings.Cut(string(text), "\n")
			if id == "" {
				return "", fmt.Errorf("%s is empty", hostFile)
			}
			return id, nil
		}

		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if !write {
			return "", nil
		}
		if err := plainfile.MkdirAll(dir); err != nil {
			return "", err
		}

		// Of several processes one makes the file, and the others read it.
		if err := newHost(dir, newID(), os.Link); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

// WriteHost gives a data directory another id.
func WriteHost(dir, id string) error { return newHost(dir, id, os.Rename) }

// newHost puts a file with an id into its place at once, by place.
func newHost(dir, id string, place func(from, to string) error) error {
	// Nobody reads a part of the id.
	f, err := plainfile.Temp(dir, hostFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())

	_, err = f.WriteString(id + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}

	return place(f.Name(), filepath.Join(dir, hostFile))
}
