package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileSystem returns the type of the file system that holds dir, and reports whether SQLite is safe there.
// If the type can't be found out, SQLite may try.
func fileSystem(dir string) (kind string, safe bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", true
	}

	// The table of mounts is long. Only FUSE needs it.
	magic := uint32(st.Type)
	if magic != fuseMagic {
		return classifyMagic(magic, "")
	}

	return classifyMagic(magic, mountType(dir))
}

// mountType returns the type in the mount table of the file system that holds dir, and "" if it can't be
// read. Nothing else distinguishes FUSE file systems.
func mountType(dir string) string {
	var st unix.Stat_t
	if unix.Stat(dir, &st) != nil {
		return ""
	}

	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}

	dev := uint64(st.Dev)
	return typeOfDevice(b, unix.Major(dev), unix.Minor(dev))
}
