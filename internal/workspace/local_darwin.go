package workspace

import "golang.org/x/sys/unix"

// fileSystem returns the type of the file system that holds dir, and reports whether SQLite is safe there.
// If the type can't be found out, SQLite may try.
func fileSystem(dir string) (kind string, safe bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return "", true
	}
	return classifyName(unix.ByteSliceToString(st.Fstypename[:]), st.Flags&unix.MNT_LOCAL != 0)
}
