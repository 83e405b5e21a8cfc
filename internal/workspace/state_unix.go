//go:build unix

package workspace

import "syscall"

// noFollow opens no link, and doesn't wait for a pipe that has taken a file's place.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
