package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// Blob identifies content that is kept by its sum.
type Blob struct {
	Sum  string
	Size int64
}

// WriteBlob keeps the content of a blob. Call it before the transaction that adds the blob, so that no row
// ever names incomplete content. Content that no row names costs only space.
func (db *DB) WriteBlob(content []byte) (Blob, error) {
	sum := sha256.Sum256(content)
	b := Blob{hex.EncodeToString(sum[:]), int64(len(content))}
	db.mu.Lock()
	defer db.mu.Unlock()
	return b, db.dialect.writeBlob(b, content)
}

// ReadBlob reads content by its sum. It fails with [stick.CodeNotFound].
func (db *DB) ReadBlob(sum string) ([]byte, error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	// The sum becomes a part of a path.
	if _, err := hex.DecodeString(sum); err == nil && len(sum) == 2*sha256.Size {
		if b, ok, err := db.dialect.readBlob(sum); ok || err != nil {
			return b, err
		}
	}

	return nil, stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(sum, 70))
}

// writeBlob writes a file that is named by the sum.
func (s *sqliteDB) writeBlob(b Blob, content []byte) error {
	// The name says what is in the file, so one of this size needs no comparing.
	path := s.blobPath(b.Sum)
	if info, err := os.Stat(path); err == nil && info.Size() == b.Size {
		return nil
	}
	if err := plainfile.MkdirAll(filepath.Dir(path)); err != nil {
		return notWritable(s.opt.Dir, err)
	}

	// Nobody finds a part of the content at its path, whenever the process is killed.
	tmp, err := plainfile.Temp(filepath.Dir(path), "new-")
	if err != nil {
		return notWritable(s.opt.Dir, err)
	}
	defer os.Remove(tmp.Name())

	_, err = tmp.Write(content)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return notWritable(s.opt.Dir, err)
	}

	return nil
}

func (s *sqliteDB) readBlob(sum string) (content []byte, ok bool, err error) {
	b, err := plainfile.Read(s.blobPath(sum))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (s *sqliteDB) blobPath(sum string) string {
	return filepath.Join(s.opt.Dir, "blobs", sum[:2], sum[2:])
}

// AddBlob records a blob whose content was written.
func (tx *Tx) AddBlob(b Blob) error {
	return tx.exec("INSERT INTO blobs (sum, size, created_at) VALUES (?, ?, ?) ON CONFLICT (sum) DO NOTHING",
		b.Sum, b.Size, tx.Now())
}

// HasBlob reports whether a blob is recorded.
func (tx *Tx) HasBlob(sum string) (bool, error) {
	var have string
	return tx.queryOne("SELECT sum FROM blobs WHERE sum = ?", []any{sum}, &have)
}

// FindBlob finds the blob whose sum begins with a prefix; ok is false when none does, or more than one.
func (tx *Tx) FindBlob(prefix string) (sum string, ok bool, err error) {
	var sums []string

	// Sums are hexadecimal, so "g" sorts after all that begin with the prefix.
	query := "SELECT sum FROM blobs WHERE sum >= ? AND sum < ? ORDER BY sum LIMIT 2"
	err = tx.scan(query, []any{prefix, prefix + "g"}, func(scan rowScan) error {
		var s string
		err := scan(&s)
		sums = append(sums, s)
		return err
	})
	if err != nil || len(sums) != 1 {
		return "", false, err
	}

	return sums[0], true, nil
}
