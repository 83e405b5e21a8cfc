package wake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// Folder keeps the inboxes of a host's sessions, each in a file of its own.
type Folder struct{ dir string }

// In returns the folder of a data directory. It touches no file.
func FolderOf(data string) Folder { return Folder{filepath.Join(data, "inboxes")} }

const fileSuffix = ".json"

// filePath returns the file of a session. Its name says nothing about the session.
func (f Folder) filePath(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(f.dir, hex.EncodeToString(sum[:16])+fileSuffix)
}

// AttendantLock returns the path of the lock that the process has which waits in a room and writes to inboxes
// for others. It is only there after somebody has an inbox.
func (f Folder) AttendantLock(room stick.RoomID) string {
	return strings.TrimSuffix(f.filePath("room "+string(room)), fileSuffix) + ".lock"
}

// Keep writes down the inbox of a session, unless the file says the same already.
func (f Folder) Keep(session string, b Inbox) error {
	path := f.filePath(session)
	if had, err := readInbox(path); err == nil && had == b {
		return nil
	}

	if err := plainfile.MkdirAll(f.dir); err != nil {
		return folderError(err)
	}

	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return folderError(plainfile.Replace(path, text))
}

// Drop removes the inbox of a session. It may be called for one that isn't there.
func (f Folder) Drop(session string) error { return removeFile(f.filePath(session)) }

// Kept is an inbox that is written down.
type Kept struct {
	Inbox
	path string
}

// Drop removes it from the folder.
func (k Kept) Drop() error { return removeFile(k.path) }

// All returns the inboxes that are written down, in no order. What can't be read is left out: another version
// of the program may have written it.
func (f Folder) All() (all []Kept) {
	files, err := os.ReadDir(f.dir)
	if err != nil {
		return nil
	}

	for _, file := range files {
		path := filepath.Join(f.dir, file.Name())
		if !strings.HasSuffix(path, fileSuffix) {
			continue
		}

		if b, err := readInbox(path); err == nil && b.Socket != "" {
			all = append(all, Kept{b, path})
		}
	}
	return all
}

func readInbox(path string) (b Inbox, err error) {
	text, err := plainfile.Read(path)
	if err != nil {
		return b, err
	}
	return b, json.Unmarshal(text, &b)
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return folderError(err)
	}
	return nil
}

// folderError says what failed, without the path, which tells users nothing.
func folderError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the inbox of a session can't be written down: %w", plainfile.CauseOf(err))
}
