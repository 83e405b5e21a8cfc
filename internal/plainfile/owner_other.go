//go:build !unix

package plainfile

import "io/fs"

// noFollow has no equal here. Only administrators make links.
const noFollow = 0

func isLink(error) bool { return false }

// Owner knows nobody: this system has no numbers of users.
func Owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// CheckOwner accepts every directory: the system's own permissions decide.
func CheckOwner(string) error { return nil }

// Inherit has nothing to do: new files belong to whom the directory says.
func Inherit(string, fs.FileInfo, func(uid, gid int) error) error { return nil }
