//go:build unix

package plainfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"talkingstick/stick"
)

// noFollow makes opening a link fail.
const noFollow = syscall.O_NOFOLLOW

// geteuid tells who we are. Tests replace it.
var geteuid = os.Geteuid

// isLink reports whether a file couldn't be opened because it is a link.
func isLink(err error) bool { return errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.EMLINK) }

// Owner returns the number of the user that a file belongs to.
func Owner(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// CheckOwner refuses a data directory of another user, with [stick.CodeDataDirOfAnother]: that user could put
// anything there. One that root made may be ours, and root may use everybody's. It accepts a directory that
// isn't there.
func CheckOwner(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // making or opening it says more
	}

	if uid, ok := Owner(info); ok && uid != 0 && geteuid() != 0 && uid != geteuid() {
		return OfAnother(dir, uid)
	}
	return nil
}

// OfAnother returns the error for a data directory that belongs to this user.
func OfAnother(dir string, uid int) *stick.Error {
	return stick.Errorf(stick.CodeDataDirOfAnother, "the data directory %s belongs to another user (uid %d)", dir, uid).
		With("path", dir).With("uid", uid).
		Hintf("set TALKING_STICK_DATA_DIR to a directory of your own, or unset it to use the default one")
}

// Inherit gives the owner of the directory what root has made there: a root with somebody's HOME would leave
// files that this user's commands can't open. info is that of the file, which has no other name: by one,
// somebody could be given any file.
func Inherit(path string, info fs.FileInfo, chown func(uid, gid int) error) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if geteuid() != 0 || !ok || st.Uid != 0 || !info.IsDir() && st.Nlink != 1 {
		return nil
	}

	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}

	if above, ok := dir.Sys().(*syscall.Stat_t); ok && above.Uid != 0 {
		return chown(int(above.Uid), int(above.Gid))
	}
	return nil
}
