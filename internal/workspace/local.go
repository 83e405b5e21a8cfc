package workspace

import "talkingstick/stick"

// CheckLocal fails with file_system_unsupported if SQLite's write-ahead log isn't safe on the file system
// that holds dir: the log needs shared memory and locks between processes. The error names the type and
// the fix. If dir doesn't exist yet, the nearest existing directory above it counts.
//
// It doesn't fail if it can't find out the type: opening the database there says more.
func CheckLocal(dir string) error {
	real, _, err := splitExisting(dir, "")
	if err != nil {
		return nil
	}

	if kind, safe := fileSystem(real); !safe {
		return UnsafeFileSystem(dir, kind)
	}

	return nil
}

// UnsafeFileSystem returns the error for a directory on a file system where SQLite isn't safe.
func UnsafeFileSystem(dir, kind string) *stick.Error {
	return stick.Errorf(stick.CodeFileSystem, "%s is on a file system of type %s, where SQLite can lose data", printable(dir), kind).
		With("path", dir).
		With("file_system", kind).
		Hintf("set TALKING_STICK_DATA_DIR to a directory on a local disk")
}
