//go:build !unix

package rescue

import "errors"

// errReadOnly says that a file system can't be written. This system has no such error.
var errReadOnly = errors.New("the file system is read-only")
