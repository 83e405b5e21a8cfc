// Package pack writes and reads packs and objects of git's, without git where that is possible: one run of git
// takes longer than a whole snapshot.
package pack

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

// Writer writes a pack of git's, version 2.
type Writer struct {
	open    func() (*os.File, error) // makes the file
	File    *os.File                 // nil until the first object comes
	out     *bufio.Writer
	crc     hash.Hash32
	offset  int64
	objects []packedObject
	Err     error // the first of writing

	// Held are the objects that earlier packs have, which aren't written again. Used are those of the rescue,
	// with where each lies.
	Held map[string]HeldObject
	Used map[string]HeldObject

	// Compressing takes longer than reading and writing files, in a moment in which somebody waits. Snapshots
	// do it all the same, as long as a file isn't large: there is one after each call of an agent.
	compress bool
	plain    *zlib.Writer
	fast     *zlib.Writer
}

// OwnPack stands for the pack that is being written, among others.
const OwnPack = ""

// maxCompressed is the size of the largest object that is compressed.
const maxCompressed = 1 << 20

type packedObject struct {
	name   [sha1.Size]byte
	crc    uint32
	offset int64
}

// The kinds of objects, as packs number them.
const (
	KindCommit = 1
	KindTree   = 2
	KindBlob   = 3
)

// KindNames are the kinds in words of git.
var KindNames = map[byte]string{KindCommit: "commit", KindTree: "tree", KindBlob: "blob"}

// HeaderSize is how many bytes of a pack stand before its objects.
const HeaderSize = 12

// NewWriter returns a writer whose file open makes. With compress, it compresses what isn't large.
func NewWriter(compress bool, open func() (*os.File, error)) *Writer {
	return &Writer{open: open, compress: compress, crc: crc32.NewIEEE(), Used: map[string]HeldObject{}}
}

// openFile makes the file.
func (p *Writer) openFile() bool {
	if p.File != nil || p.Err != nil {
		return p.Err == nil
	}
	if p.File, p.Err = p.open(); p.Err != nil {
		return false
	}

	// The header is written at the end, when the number of objects is known.
	p.out = bufio.NewWriterSize(p.File, 64<<10)
	p.out.Write(make([]byte, HeaderSize))
	p.offset = HeaderSize
	return true
}

// Write appends bytes of an object.
func (p *Writer) Write(b []byte) (int, error) {
	p.crc.Write(b)
	n, err := p.out.Write(b)
	p.offset += int64(n)
	return n, err
}

// AddObject appends an object, unless this pack or an earlier one has it, and returns its name. An error of
// writing is reported by finish.
func (p *Writer) AddObject(kind byte, data []byte) string {
	name := ObjectName(sha1.New(), KindNames[kind], data)
	if _, ok := p.Used[name]; ok || p.ReuseObject(name) {
		return name
	}

	p.WriteObject(name, kind, data)
	return name
}

// ReuseObject counts an object that an earlier pack has to those of the rescue. It reports whether one has
// it.
func (p *Writer) ReuseObject(name string) bool {
	o, ok := p.Held[name]
	if ok {
		p.Used[name] = o
	}
	return ok
}

// WriteObject appends an object.
func (p *Writer) WriteObject(name string, kind byte, data []byte) {
	if !p.openFile() {
		return
	}

	p.Used[name] = HeldObject{OwnPack, int64(len(data))}
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
func (p *Writer) deflaterFor(size int) *zlib.Writer {
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

func (p *Writer) noteError(_ int, err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// Finish completes the pack and returns its index, version 2.
func (p *Writer) Finish() (index []byte, err error) {
	if !p.openFile() {
		return nil, p.Err
	}

	p.noteError(0, p.out.Flush())
	head := append([]byte("PACK\x00\x00\x00\x02"), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(head[8:], uint32(len(p.objects)))
	p.noteError(p.File.WriteAt(head, 0))

	// A pack ends with the checksum of everything before it.
	sum := sha1.New()
	_, err = io.Copy(sum, io.NewSectionReader(p.File, 0, p.offset))
	p.noteError(0, err)
	end := sum.Sum(nil)
	p.noteError(p.File.WriteAt(end, p.offset))

	return p.buildIndex(end), p.Err
}

// IsEmpty reports whether no object was written, and none failed to be.
func (p *Writer) IsEmpty() bool { return len(p.objects) == 0 && p.Err == nil }

func (p *Writer) buildIndex(packSum []byte) []byte {
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

// HeldObject is where an object lies.
type HeldObject struct {
	Pack string // the id of the snapshot whose pack has it
	Size int64  // of its bytes
}

// KindOf returns the number of a kind of objects.
func KindOf(name string) byte {
	for kind, n := range KindNames {
		if n == name {
			return kind
		}
	}
	return 0
}

// PacksOf lists the packs in which objects lie, but for the one that is being written, the oldest first.
func PacksOf(objects map[string]HeldObject) (ids []string) {
	known := map[string]bool{OwnPack: true}
	for _, o := range objects {
		if !known[o.Pack] {
			known[o.Pack] = true
			ids = append(ids, o.Pack)
		}
	}

	slices.Sort(ids)
	return ids
}

// OwnedBy names the pack that was being written.
func OwnedBy(id string, objects map[string]HeldObject) map[string]HeldObject {
	for name, o := range objects {
		if o.Pack == OwnPack {
			o.Pack = id
			objects[name] = o
		}
	}
	return objects
}
