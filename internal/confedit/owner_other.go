//go:build !unix

package confedit

import (
	"io/fs"
	"os"
)

// keepOwner does nothing: on this system a new file belongs to the user, and its directory says who may use
// it.
func keepOwner(*os.File, fs.FileInfo) error { return nil }

// syncDir does nothing: this system can't open a directory to sync it.
func syncDir(string) {}
