//go:build !linux

package bell

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
)

// ringFile rings a bell that is open for writing. These systems don't tell of a file's closing but
// of its writing. The bytes are new every time, for a watcher that can only compare; they replace
// the last ones, so that the file doesn't grow.
func ringFile(f *os.File) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], rand.Uint64())
	f.WriteAt(b[:], 0)
	f.Close()
}

// ringFIFOs has nothing to ring: only Linux has a limit on watches for which FIFOs stand in.
func (d *Dir) ringFIFOs(string) {}
