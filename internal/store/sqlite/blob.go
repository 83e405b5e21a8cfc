package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/store/dialect"
)

// BlobsName is the directory in the data directory that has the files of blobs.
const BlobsName = "blobs"

// WriteBlob writes a file that is named by the sum.
func (s *DB) WriteBlob(b dialect.Blob, content []byte) error {
	// The name says what is in the file, so one of this size needs no comparing.
	path := s.blobPath(b.Sum)
	if info, err := os.Stat(path); err == nil && info.Size() == b.Size {
		// No row may name it so far, and what is new is never swept.
		now := s.opt.Now()
		if os.Chtimes(path, now, now) == nil {
			return nil
		}
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

// SweepBlobs removes the files that are older than a time and that no row names, or only counts them. Its caller
// has the lock of writers if it removes.
func (s *DB) SweepBlobs(
	before time.Time, remove bool, isNamed func(sum string) (bool, error),
) (n int, bytes int64, err error) {
	root := filepath.Join(s.opt.Dir, BlobsName)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // there are none, or it went meanwhile
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}

		info, err := d.Info()
		if err != nil || !info.ModTime().Before(before) {
			return nil
		}

		// The name of a file that was left half written is no sum.
		if named, err := isNamed(filepath.Base(filepath.Dir(path)) + d.Name()); err != nil || named {
			return err
		}
		if remove && !removeOldFile(path, before) {
			return nil
		}

		n++
		bytes += info.Size()
		return nil
	})

	return n, bytes, err
}

// removeOldFile removes a file unless another process finds use for it at the same moment: that one renews its
// time, and writes it anew where it can't.
func removeOldFile(path string, before time.Time) bool {
	aside := path + ".going"
	if os.Rename(path, aside) != nil {
		return false
	}

	if info, err := os.Stat(aside); err == nil && !info.ModTime().Before(before) {
		_ = os.Rename(aside, path)
		return false
	}
	return os.Remove(aside) == nil
}

// Shrink rewrites the file without the space that nothing uses. Nobody writes meanwhile, and others may read.
func (s *DB) Shrink(ctx context.Context) error {
	return s.withLock(ctx, func() error {
		if err := s.requireUnmarked(); err != nil {
			return err
		}

		_, err := s.conn.ExecContext(ctx, "VACUUM")
		return err
	})
}

func (s *DB) blobPath(sum string) string {
	return filepath.Join(s.opt.Dir, BlobsName, sum[:2], sum[2:])
}
