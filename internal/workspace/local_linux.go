package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileSystem gives the type of the file system that holds dir, and whether SQLite is safe there.
func fileSystem(dir string) (kind string, safe bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", true
	}
	magic := uint32(st.Type)
	if magic != fuseMagic {
		return classify(magic, "")
	}
	return classify(magic, mountType(dir))
}

// mountType is the type with which the file system that holds dir was mounted, and "" if it can't
// be learned. Only this tells one FUSE file system from another.
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
