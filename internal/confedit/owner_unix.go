//go:build unix

package confedit

import (
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives f the owner and group of another file.
func keepOwner(f *os.File, of fs.FileInfo) error {
	have, err := f.Stat()
	if err != nil {
		return err
	}

	was, ok := of.Sys().(*syscall.Stat_t)
	is, ok2 := have.Sys().(*syscall.Stat_t)
	if !ok || !ok2 || was.Uid == is.Uid && was.Gid == is.Gid {
		return nil
	}

	return f.Chown(int(was.Uid), int(was.Gid))
}

// syncDir syncs a rename to the disk. A file system that can't do that is no worse off than before.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
