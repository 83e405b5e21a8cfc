//go:build !linux && !darwin

package plainfile

import "io/fs"

// inodeOf returns no number, and the time of the file's contents.
func inodeOf(info fs.FileInfo) (inode uint64, changed int64) { return 0, info.ModTime().UnixNano() }
