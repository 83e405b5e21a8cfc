package workspace

import "golang.org/x/sys/windows"

// fileSystem returns the type of the file system that holds dir, and reports whether SQLite is safe there.
// If the type can't be found out, SQLite may try.
func fileSystem(dir string) (kind string, safe bool) {
	p, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return "", true
	}

	volume := make([]uint16, windows.MAX_LONG_PATH)
	if windows.GetVolumePathName(p, &volume[0], uint32(len(volume))) != nil {
		return "", true
	}
	if windows.GetDriveType(&volume[0]) == windows.DRIVE_REMOTE {
		return "network drive", false
	}

	return "local drive", true
}
