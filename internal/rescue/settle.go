package rescue

import (
	"errors"
	"io/fs"
	"os"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/bare"
)

// Settle notes that somebody has brought back what a rescue holds, so that nobody is reminded of it. The rescue
// stays. It fails as [Store.Show] does, and with [stick.CodeDataDirNotWritable].
func (s *Store) Settle(id string) error {
	r, f, err := s.findRescue(id)
	if err != nil {
		return err
	}

	path := r.PackBase(f.Form, f.ID) + bare.DoneSuffix
	file, err := plainfile.Open(path, os.O_CREATE|os.O_WRONLY)
	if err != nil {
		return bare.ErrUnwritable(path, err)
	}
	file.Close()

	// The rescue may have been dropped at the same moment.
	if !r.IsHeld(f) {
		os.Remove(path)
		return bare.ErrNoRescue(id)
	}
	return nil
}

// IsOpen reports whether there is a rescue with an id that nobody has brought back.
func (s *Store) IsOpen(id string) bool {
	r, f, err := s.findRescue(id)
	if err != nil {
		return false
	}

	_, err = os.Lstat(r.PackBase(f.Form, f.ID) + bare.DoneSuffix)
	return errors.Is(err, fs.ErrNotExist)
}
