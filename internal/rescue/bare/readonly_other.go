//go:build !unix

package bare

import "errors"

// errReadOnly says that a file system can't be written. This system has no such error.
var errReadOnly = errors.New("the file system is read-only")
