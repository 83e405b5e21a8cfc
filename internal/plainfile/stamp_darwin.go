package plainfile

import (
	"io/fs"
	"syscall"
)

// inodeOf returns a file's number in its file system, and when anything of it last changed.
func inodeOf(info fs.FileInfo) (inode uint64, changed int64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino, s.Ctimespec.Nano()
	}
	return 0, info.ModTime().UnixNano()
}
