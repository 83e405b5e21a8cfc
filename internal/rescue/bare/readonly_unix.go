//go:build unix

package bare

import "syscall"

// errReadOnly says that a file system can't be written.
const errReadOnly = syscall.EROFS
