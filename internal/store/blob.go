package store

import (
	"crypto/sha256"
	"encoding/hex"

	"talkingstick/internal/store/dialect"
	"talkingstick/stick"
)

// WriteBlob keeps the content of a blob. Call it before the transaction that adds the blob, so that no row
// ever names incomplete content. Content that no row names costs only space.
func (db *DB) WriteBlob(content []byte) (dialect.Blob, error) {
	sum := sha256.Sum256(content)
	b := dialect.Blob{Sum: hex.EncodeToString(sum[:]), Size: int64(len(content))}
	db.mu.Lock()
	defer db.mu.Unlock()
	return b, db.dialect.WriteBlob(b, content)
}

// ReadBlob reads content by its sum. It fails with [stick.CodeNotFound].
func (db *DB) ReadBlob(sum string) ([]byte, error) {
	db.mu.Lock()
	defer db.mu.Unlock()

	// The sum becomes a part of a path.
	if _, err := hex.DecodeString(sum); err == nil && len(sum) == 2*sha256.Size {
		if b, ok, err := db.dialect.ReadBlob(sum); ok || err != nil {
			return b, err
		}
	}

	return nil, stick.Errorf(stick.CodeNotFound, "there is no output %q", stick.Clip(sum, 70))
}

// AddBlob records a blob whose content was written.
func (tx *Tx) AddBlob(b dialect.Blob) error {
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
