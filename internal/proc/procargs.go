package proc

import (
	"bytes"
	"encoding/binary"
)

// parseProcArgs parses macOS's kern.procargs2: the number of arguments, the program's path, NULs up to a
// boundary, each argument with a NUL after it, and the environment.
func parseProcArgs(b []byte) []string {
	if len(b) < 4 {
		return nil
	}

	count := int(binary.LittleEndian.Uint32(b))
	_, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok {
		return nil
	}

	rest = bytes.TrimLeft(rest, "\x00")
	var args []string
	for len(args) < count {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			break
		}
		args, rest = append(args, string(arg)), after
	}
	return args
}
