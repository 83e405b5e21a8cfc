//go:build unix

package store

import (
	"errors"
	"os"
)

// syncDir has the names in a directory survive a power loss.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
