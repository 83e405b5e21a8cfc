package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
)

// WriteBlob writes a file that is named by the sum.
func (s *DB) WriteBlob(b dialect.Blob, content []byte) error {
	// The name says what is in the file, so one of this size needs no comparing.
	path := s.blobPath(b.Sum)
	if info, err := os.Stat(path); err == nil && info.Size() == b.Size {
		return nil
	}
	if err := plainfile.MkdirAll(filepath.Dir(path)); err != nil {
		return dialect.ErrNotWritable(s.opt.Dir, err)
	}

	// Nobody finds a part of the content at its path, whenever the process is killed.
	tmp, err := plainfile.Temp(filepath.Dir(path), "new-")
	if err != nil {
		return dialect.ErrNotWritable(s.opt.Dir, err)
	}
	defer os.Remove(tmp.Name())

	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return dialect.ErrNotWritable(s.opt.Dir, err)
	}

	return nil
}

// ReadBlob implements [dialect.DB].
func (s *DB) ReadBlob(sum string) (content []byte, ok bool, err error) {
	b, err := plainfile.Read(s.blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (s *DB) blobPath(sum string) string {
	return filepath.Join(s.opt.Dir, "blobs", sum[:2], sum[2:])
}
