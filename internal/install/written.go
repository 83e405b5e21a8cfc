package install

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/confedit"
)

// The list of what install has written into files that are all ours, a line each: the digest of the text, and
// the path. By it any other version tells a file that nobody has edited from one that somebody has, without
// knowing the texts of all versions.

func (t Target) writtenList() string { return filepath.Join(t.DataDir, "backups", ".written") }

func writtenLine(path string, text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]) + " " + confedit.FollowLinks(path)
}

// hasWritten reports whether install has written what a file holds.
func (t Target) hasWritten(path string, have []byte) bool {
	if t.DataDir == "" {
		return false
	}
	b, err := os.ReadFile(t.writtenList())
	return err == nil && slices.Contains(strings.Split(string(b), "\n"), writtenLine(path, have))
}

// willWrite adds a text to the list, before it is written: a text that is on the list and was never written
// harms nothing.
func (t Target) willWrite(path string, text []byte) {
	if t.DataDir == "" || t.hasWritten(path, text) || os.MkdirAll(filepath.Dir(t.writtenList()), 0o700) != nil {
		// At worst the file counts as edited later, and stays.
		return
	}

	list, err := os.OpenFile(t.writtenList(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}

	_, _ = list.WriteString(writtenLine(path, text) + "\n")
	_ = list.Close()
}

// hasRemoved takes a file off the list.
func (t Target) hasRemoved(path string) {
	if t.DataDir == "" {
		return
	}

	b, err := os.ReadFile(t.writtenList())
	if err != nil {
		return
	}

	removed := confedit.FollowLinks(path)
	left := slices.DeleteFunc(strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), func(line string) bool {
		_, written, _ := strings.Cut(line, " ")
		return written == removed
	})
	if len(left) > 0 {
		_ = os.WriteFile(t.writtenList(), []byte(strings.Join(left, "\n")+"\n"), 0o600)
		return
	}

	_ = os.Remove(t.writtenList())

	// Remove fails, as it should, if the directory holds something else.
	_ = os.Remove(filepath.Dir(t.writtenList()))
}
