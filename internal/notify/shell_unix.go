//go:build unix

package notify

// shell runs a line.
var shell = []string{"/bin/sh", "-c"}
