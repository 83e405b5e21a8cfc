//go:build !linux

package bell

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
)

// ringFile rings a bell that is open for writing. These systems report when a file is written, not when
// it is closed. The bytes differ each time, for watchers that compare them, and they replace the last
// ones, so that the file doesn't grow.
func ringFile(f *os.File) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], rand.Uint64())
	f.WriteAt(b[:], 0)
	f.Close()
}

// ringFIFOs does nothing: only Linux has the limit on watches that makes FIFOs necessary.
func (d *Dir) ringFIFOs(rungRoom) {}

// openSome can't: here a listener hears all rings of its room.
func (d *Dir) openSome(SomeOf) ([]*os.File, error) { return nil, errors.ErrUnsupported }

// listenToOwn listens to all rings of the room.
func (d *Dir) listenToOwn(room, _ string, wake func()) (mechanism string, stop func() error, err error) {
	return d.listenToBells([]string{room}, wake)
}
