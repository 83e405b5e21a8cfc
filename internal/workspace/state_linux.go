package workspace

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns a file's number in its file system, and when anything of it was last changed. Programs may
// set the time of its contents back, but not that one.
func inodeOf(info fs.FileInfo) (uint64, time.Time) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino, time.Unix(s.Ctim.Unix())
	}
	return 0, info.ModTime()
}
