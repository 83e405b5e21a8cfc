package workspace

import "talkingstick/stick"

// CheckLocal tells whether the file system that holds dir is safe for SQLite's write-ahead log, which
// needs shared memory and locks that hold between processes. A dir that doesn't exist yet is judged
// by the nearest directory above it that does.
//
// It fails with file_system_unsupported, naming the type and the way out. It doesn't fail where the
// type can't be learned: opening the database there says more.
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

// UnsafeFileSystem is the refusal of a directory on a file system of a type on which SQLite isn't safe.
func UnsafeFileSystem(dir, kind string) *stick.Error {
	return stick.Errorf(stick.CodeFileSystem, "%s lies on a file system of the type %s, where SQLite can lose data", printable(dir), kind).
		With("path", dir).
		With("file_system", kind).
		Hintf("set TALKING_STICK_DATA_DIR to a directory on a local disk")
}
