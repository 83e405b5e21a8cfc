package plainfile

import (
	"io/fs"
	"time"
)

// Stamp is what the system says of a file without reading it. Equal stamps mean equal bytes, but for what
// [Stamp.IsSettled] says.
type Stamp struct {
	Size       int64
	Mode       fs.FileMode
	ModTime    int64 // in nanoseconds since 1970
	ChangeTime int64 // when anything of the file changed, which programs can't set. ModTime where the system has none
	Inode      uint64
}

// StampOf returns the stamp of a file.
func StampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime().UnixNano()}
	s.Inode, s.ChangeTime = inodeOf(info)
	return s
}

// How far apart two times of a file system may be and still be written as the same. Kernels write the time of
// their last tick, and some file systems whole seconds, or every second one.
const (
	tick      = 100 * time.Millisecond
	wholeTick = 3 * time.Second
)

// IsSettled reports whether whatever is written to the file after at gets another stamp. A file that was
// written just before at may be written again within the same tick of the clock, and one with a time of the
// future has another clock.
func (s Stamp) IsSettled(at time.Time) bool {
	// Whole seconds may be those of a file system that knows no others.
	coarse := tick
	if s.ModTime%int64(time.Second) == 0 && s.ChangeTime%int64(time.Second) == 0 {
		coarse = wholeTick
	}

	return max(s.ModTime, s.ChangeTime) < at.Add(-coarse).UnixNano()
}
