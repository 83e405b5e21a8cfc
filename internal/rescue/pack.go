package rescue

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

// pack writes a pack of git's, version 2.
type pack struct {
	open    func() (*os.File, error) // makes its file, when the first object comes
	file    *os.File                 // nil until then
	out     *bufio.Writer
	crc     hash.Hash32
	offset  int64
	objects []packedObject
	err     error

	// held are the objects that earlier packs have, which aren't written again. used are those of the rescue,
	// with where each lies.
	held map[string]heldObject
	used map[string]heldObject

	// Compressing takes longer than reading and writing files, in a moment in which somebody waits. Snapshots
	// do it all the same, as long as a file isn't large: there is one after each call of an agent.
	compress bool
	plain    *zlib.Writer
	fast     *zlib.Writer
}

// ownPack stands for the pack that is being written, among others.
const ownPack = ""

// maxCompressed is the size of the largest object that is compressed.
const maxCompressed = 1 << 20

type packedObject struct {
	name   [sha1.Size]byte
	crc    uint32
	offset int64
}

// The kinds of objects, as packs number them.
const (
	kindCommit = 1
	kindTree   = 2
	kindBlob   = 3
)

var kindNames = map[byte]string{kindCommit: "commit", kindTree: "tree", kindBlob: "blob"}

const packHeader = 12

func newPack(compress bool, open func() (*os.File, error)) *pack {
	return &pack{open: open, compress: compress, crc: crc32.NewIEEE(), used: map[string]heldObject{}}
}

// openFile makes the file.
func (p *pack) openFile() bool {
	if p.file != nil || p.err != nil {
		return p.err == nil
	}
	if p.file, p.err = p.open(); p.err != nil {
		return false
	}

	// The header is written at the end, when the number of objects is known.
	p.out = bufio.NewWriterSize(p.file, 64<<10)
	p.out.Write(make([]byte, packHeader))
	p.offset = packHeader
	return true
}

// Write appends bytes of an object.
func (p *pack) Write(b []byte) (int, error) {
	p.crc.Write(b)
	n, err := p.out.Write(b)
	p.offset += int64(n)
	return n, err
}

// addObject appends an object, unless this pack or an earlier one has it, and returns its name. An error of
// writing is reported by finish.
func (p *pack) addObject(kind byte, data []byte) string {
	name := objectName(sha1.New(), kindNames[kind], data)
	if _, ok := p.used[name]; ok || p.reuseObject(name) {
		return name
	}

	p.writeObject(name, kind, data)
	return name
}

// reuseObject counts an object that an earlier pack has to those of the rescue. It reports whether one has
// it.
func (p *pack) reuseObject(name string) bool {
	o, ok := p.held[name]
	if ok {
		p.used[name] = o
	}
	return ok
}

// writeObject appends an object.
func (p *pack) writeObject(name string, kind byte, data []byte) {
	if !p.openFile() {
		return
	}

	p.used[name] = heldObject{ownPack, int64(len(data))}
	o := packedObject{offset: p.offset}
	hex.Decode(o.name[:], []byte(name))
	p.crc.Reset()

	// Before the bytes stand the kind and the size: its lowest four bits, then seven in each byte.
	size := uint64(len(data))
	head := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}

	p.noteError(p.Write(head))

	// Each object is compressed by itself, so that it can be read by itself.
	deflate := p.deflaterFor(len(data))
	deflate.Reset(p)
	p.noteError(deflate.Write(data))
	p.noteError(0, deflate.Close())

	o.crc = p.crc.Sum32()
	p.objects = append(p.objects, o)
}

// deflaterFor returns the writer for an object of a size.
func (p *pack) deflaterFor(size int) *zlib.Writer {
	w, level := &p.plain, zlib.NoCompression
	if p.compress && size <= maxCompressed {
		w, level = &p.fast, zlib.BestSpeed
	}

	if *w == nil {
		// It fails only for levels that don't exist.
		*w, _ = zlib.NewWriterLevel(p, level)
	}
	return *w
}

func (p *pack) noteError(_ int, err error) {
	if p.err == nil {
		p.err = err
	}
}

// finish completes the pack and returns its index, version 2.
func (p *pack) finish() (index []byte, err error) {
	if !p.openFile() {
		return nil, p.err
	}

	p.noteError(0, p.out.Flush())
	head := append([]byte("PACK\x00\x00\x00\x02"), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(head[8:], uint32(len(p.objects)))
	p.noteError(p.file.WriteAt(head, 0))

	// A pack ends with the checksum of everything before it.
	sum := sha1.New()
	_, err = io.Copy(sum, io.NewSectionReader(p.file, 0, p.offset))
	p.noteError(0, err)
	end := sum.Sum(nil)
	p.noteError(p.file.WriteAt(end, p.offset))

	return p.buildIndex(end), p.err
}

// isEmpty reports whether no object was written, and none failed to be.
func (p *pack) isEmpty() bool { return len(p.objects) == 0 && p.err == nil }

func (p *pack) buildIndex(packSum []byte) []byte {
	slices.SortFunc(p.objects, func(a, b packedObject) int { return bytes.Compare(a.name[:], b.name[:]) })
	out := []byte("\xfftOc\x00\x00\x00\x02")

	// For each first byte: how many names begin with it, or with a smaller one.
	for first, i := 0, 0; first < 256; first++ {
		for i < len(p.objects) && int(p.objects[i].name[0]) <= first {
			i++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(i))
	}

	// Names, checksums and offsets are three tables in the same order.
	for _, o := range p.objects {
		out = append(out, o.name[:]...)
	}
	for _, o := range p.objects {
		out = binary.BigEndian.AppendUint32(out, o.crc)
	}

	// A rescue stays far below the 2 GiB from which on offsets are written otherwise.
	for _, o := range p.objects {
		out = binary.BigEndian.AppendUint32(out, uint32(o.offset))
	}

	out = append(out, packSum...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// heldObject is where an object lies.
type heldObject struct {
	pack string // the id of the snapshot whose pack has it
	size int64  // of its bytes
}

// kindOf returns the number of a kind of objects.
func kindOf(name string) byte {
	for kind, n := range kindNames {
		if n == name {
			return kind
		}
	}
	return 0
}

// packsOf lists the packs in which objects lie, but for the one that is being written, the oldest first.
func packsOf(objects map[string]heldObject) (ids []string) {
	known := map[string]bool{ownPack: true}
	for _, o := range objects {
		if !known[o.pack] {
			known[o.pack] = true
			ids = append(ids, o.pack)
		}
	}

	slices.Sort(ids)
	return ids
}

// ownedBy names the pack that was being written.
func ownedBy(id string, objects map[string]heldObject) map[string]heldObject {
	for name, o := range objects {
		if o.pack == ownPack {
			o.pack = id
			objects[name] = o
		}
	}
	return objects
}
