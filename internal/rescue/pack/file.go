package pack

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"

	"talkingstick/internal/plainfile"
)

// File reads a pack that [Writer] has written: whole objects, none as a difference to another. So what our
// repository has is read without git, which would look through all packs, be they ten thousand.
type File struct {
	file  *os.File
	Index []byte
	count int
}

// The suffixes of the files of a pack.
const (
	Suffix        = ".pack"
	IndexSuffix   = ".idx"
	ReplaceSuffix = ".new" // of what is about to replace a pack and its index
)

// Sizes in an index of a pack, version 2.
const (
	indexFan  = 8            // where the table of first bytes begins
	indexHead = 8 + 256*4    // where the names begin
	NameSize  = 20           // of a name of an object
	indexRow  = 20 + 4 + 4   // name, checksum, offset
	indexTail = 2 * NameSize // the sums of the pack, and of the index
)

// ErrDamaged says that a pack isn't what its index or the name of an object says.
var ErrDamaged = errors.New("a pack is damaged")

// Open opens the pack with a name, without its suffix. It fails with [fs.ErrNotExist] if there is none.
func Open(base string) (*File, error) {
	file, err := plainfile.Open(base+Suffix, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	p := &File{file: file}
	err = fs.ErrNotExist

	// The second one is there if replacing pack and index was interrupted.
	for _, suffix := range []string{IndexSuffix, IndexSuffix + ReplaceSuffix} {
		b, rerr := plainfile.Read(base + suffix)
		if p.Index = b; rerr == nil && p.hasMatchingIndex() {
			return p, nil
		}

		switch {
		case rerr == nil:
			err = ErrDamaged
		case !errors.Is(rerr, fs.ErrNotExist):
			err = rerr
		}
	}

	file.Close()
	return nil, err
}

// Close closes the pack.
func (p *File) Close() { p.file.Close() }

// hasMatchingIndex reports whether the index is one, and that of the pack.
func (p *File) hasMatchingIndex() bool {
	if len(p.Index) < indexHead+indexTail || string(p.Index[:indexFan]) != "\xfftOc\x00\x00\x00\x02" {
		return false
	}

	p.count = int(binary.BigEndian.Uint32(p.Index[indexHead-4:]))
	if len(p.Index) != indexHead+p.count*indexRow+indexTail {
		return false
	}

	info, err := p.file.Stat()
	if err != nil || info.Size() < HeaderSize+NameSize {
		return false
	}

	// Both files end with the checksum of the pack; the index has its own after it.
	var sum [NameSize]byte
	_, err = p.file.ReadAt(sum[:], info.Size()-NameSize)
	return err == nil && bytes.Equal(sum[:], p.Index[len(p.Index)-indexTail:len(p.Index)-NameSize])
}

// objectNameAt returns the name of an object by its number.
func (p *File) objectNameAt(i int) []byte { return p.Index[indexHead+i*NameSize:][:NameSize] }

// ObjectNames lists the objects.
func (p *File) ObjectNames() []string {
	all := make([]string, p.count)
	for i := range all {
		all[i] = hex.EncodeToString(p.objectNameAt(i))
	}
	return all
}

// ObjectOffset returns where an object begins.
func (p *File) ObjectOffset(name string) (at int64, ok bool) {
	raw, err := hex.DecodeString(name)
	if err != nil || len(raw) != NameSize {
		return 0, false
	}

	i := sort.Search(p.count, func(i int) bool { return bytes.Compare(p.objectNameAt(i), raw) >= 0 })
	if i == p.count || !bytes.Equal(p.objectNameAt(i), raw) {
		return 0, false
	}

	return int64(binary.BigEndian.Uint32(p.Index[indexHead+p.count*(NameSize+4)+4*i:])), true
}

// ReadObject reads an object. It fails with [fs.ErrNotExist] if the pack hasn't got it, and with [ErrDamaged] if
// it isn't what its name says.
func (p *File) ReadObject(name string) (o Object, err error) {
	at, ok := p.ObjectOffset(name)
	if !ok {
		return o, fs.ErrNotExist
	}

	var head [16]byte
	n, err := p.file.ReadAt(head[:], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return o, err
	}
	kind, size, used := objectHeader(head[:n])

	info, err := p.file.Stat()
	if err != nil {
		return o, err
	}

	if KindNames[kind] == "" || size < 0 || size > maxInflated*info.Size() {
		return o, ErrDamaged
	}

	inflate, err := zlib.NewReader(io.NewSectionReader(p.file, at+int64(used), info.Size()-at-int64(used)))
	if err != nil {
		return o, fmt.Errorf("%w: %w", ErrDamaged, err)
	}

	o = Object{Name: name, Kind: KindNames[kind], Size: size, Data: make([]byte, size)}
	if _, err := io.ReadFull(inflate, o.Data); err != nil {
		return o, fmt.Errorf("%w: %w", ErrDamaged, err)
	}

	if ObjectName(NewHash(name), o.Kind, o.Data) != name {
		return o, ErrDamaged
	}

	return o, nil
}

// maxInflated is by how much zlib can shrink at most. More is damage, for which no memory is taken.
const maxInflated = 1100

// objectHeader parses what stands before the bytes of an object: its kind, its size, and how long the header
// is.
func objectHeader(head []byte) (kind byte, size int64, used int) {
	if len(head) == 0 {
		return 0, -1, 0
	}

	kind, size = head[0]>>4&7, int64(head[0]&15)
	for shift := 4; head[used]&0x80 != 0; shift += 7 {
		if used++; used == len(head) || shift > 40 {
			return 0, -1, 0
		}
		size |= int64(head[used]&0x7f) << shift
	}

	return kind, size, used + 1
}
