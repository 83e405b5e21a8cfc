package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"talkingstick/stick/edits"
)

// maxSummed is the size of the largest file that is read to tell whether it has changed. Of a larger one,
// size and time tell it.
const maxSummed = 32 << 20

// SeeFile returns what a file is like, without following a link, and when it was last changed, contents or
// anything else. If it is known, and untouched since, its bytes aren't read. Of a file that doesn't exist,
// the state is zero. It fails for what is neither a file nor a link, and for a file that can't be read.
func StateOfFile(path string, known edits.FileState) (s edits.FileState, changed time.Time, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return edits.FileState{}, time.Time{}, nil
	}
	if err != nil {
		return s, changed, err
	}

	s = edits.FileState{Size: info.Size(), ModTime: info.ModTime().UnixNano(), Mode: uint32(info.Mode())}
	s.Inode, changed = inodeOf(info)

	// Nothing has touched it since, so its bytes are the same.
	if s.Sum = known.Sum; s == known && known.Sum != "" {
		return s, changed, nil
	}

	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		s.Sum = SumOf([]byte(to))
		return s, changed, err
	case !info.Mode().IsRegular():
		return s, changed, fmt.Errorf("%s isn't a file", path)
	case info.Size() > maxSummed:
		// Size and time have to do: reading it would take too long.
		s.Sum = SumOf(fmt.Appendf(nil, "%d bytes at %d", s.Size, s.ModTime))
		return s, changed, nil
	}

	// It may have become a link or a pipe meanwhile: neither is followed or waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return s, changed, err
	}
	defer f.Close()

	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(f, maxSummed)); err != nil {
		return s, changed, err
	}

	s.Sum = hex.EncodeToString(h.Sum(nil))
	return s, changed, nil
}

// ChangedAt returns when a file or a directory was last changed, contents or anything else.
func ChangedAt(info fs.FileInfo) time.Time {
	_, changed := inodeOf(info)
	return changed
}

// SumOf is the sum of a file with this content, as [edits.FileState] has it.
func SumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
