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
	"strings"
)

// pack writes a pack of git's, version 2. Objects aren't compressed: that would take longer than reading and writing them,
// in the moment in which somebody waits.
type pack struct {
	file    *os.File
	out     *bufio.Writer
	crc     hash.Hash32
	offset  int64
	objects []packed
	seen    map[string]bool // by their names
	deflate *zlib.Writer
	err     error
}

type packed struct {
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

func newPack(file *os.File) *pack {
	p := &pack{file: file, out: bufio.NewWriterSize(file, 256<<10), crc: crc32.NewIEEE(), seen: map[string]bool{}}
	p.deflate, _ = zlib.NewWriterLevel(p, zlib.NoCompression) // it fails for levels that don't exist
	p.out.Write(make([]byte, packHeader))
	p.offset = packHeader
	return p
}

// Write appends bytes of an object.
func (p *pack) Write(b []byte) (int, error) {
	p.crc.Write(b)
	n, err := p.out.Write(b)
	p.offset += int64(n)
	return n, err
}

// add appends an object, unless the pack has it, and returns its name. An error of writing is reported by finish.
func (p *pack) add(kind byte, data []byte) string {
	name := objectName(sha1.New(), kindNames[kind], data)
	if p.seen[name] {
		return name
	}
	p.seen[name] = true
	o := packed{offset: p.offset}
	hex.Decode(o.name[:], []byte(name))
	p.crc.Reset()
	size := uint64(len(data))
	head := []byte{kind<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	p.note(p.Write(head))
	p.deflate.Reset(p)
	p.note(p.deflate.Write(data))
	p.note(0, p.deflate.Close())
	o.crc = p.crc.Sum32()
	p.objects = append(p.objects, o)
	return name
}

func (p *pack) note(_ int, err error) {
	if p.err == nil {
		p.err = err
	}
}

// finish completes the pack and returns its index, version 2.
func (p *pack) finish() (index []byte, err error) {
	p.note(0, p.out.Flush())
	head := append([]byte("PACK\x00\x00\x00\x02"), 0, 0, 0, 0)
	binary.BigEndian.PutUint32(head[8:], uint32(len(p.objects)))
	p.note(p.file.WriteAt(head, 0))
	sum := sha1.New()
	_, err = io.Copy(sum, io.NewSectionReader(p.file, 0, p.offset))
	p.note(0, err)
	end := sum.Sum(nil)
	p.note(p.file.WriteAt(end, p.offset))
	return p.index(end), p.err
}

func (p *pack) index(packSum []byte) []byte {
	slices.SortFunc(p.objects, func(a, b packed) int { return bytes.Compare(a.name[:], b.name[:]) })
	out := []byte("\xfftOc\x00\x00\x00\x02")
	for first, i := 0, 0; first < 256; first++ {
		for i < len(p.objects) && int(p.objects[i].name[0]) <= first {
			i++
		}
		out = binary.BigEndian.AppendUint32(out, uint32(i))
	}
	for _, o := range p.objects {
		out = append(out, o.name[:]...)
	}
	for _, o := range p.objects {
		out = binary.BigEndian.AppendUint32(out, o.crc)
	}
	for _, o := range p.objects { // a rescue stays far below the 2 GiB from which offsets are written otherwise
		out = binary.BigEndian.AppendUint32(out, uint32(o.offset))
	}
	out = append(out, packSum...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// folder is a tree of git's that is being made.
type folder struct {
	files   map[string]file
	folders map[string]*folder
}

type file struct{ mode, name string } // name of the object

func (d *folder) put(path, mode, object string) {
	first, rest, below := strings.Cut(path, "/")
	if !below {
		if d.files == nil {
			d.files = map[string]file{}
		}
		d.files[first] = file{mode, object}
		return
	}
	if d.folders == nil {
		d.folders = map[string]*folder{}
	}
	if d.folders[first] == nil {
		d.folders[first] = &folder{}
	}
	d.folders[first].put(rest, mode, object)
}

// addTo writes the tree and those below it, and returns its name.
func (d *folder) addTo(p *pack) string {
	type line struct{ key, text string }
	var lines []line
	add := func(key, mode, name, object string) {
		raw, _ := hex.DecodeString(object) // it comes from add
		lines = append(lines, line{key, mode + " " + name + "\x00" + string(raw)})
	}
	for name, f := range d.files {
		add(name, f.mode, name, f.name)
	}
	for name, sub := range d.folders {
		add(name+"/", modeTree, name, sub.addTo(p)) // git sorts directories as if they ended with /
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
	}
	return p.add(kindTree, []byte(b.String()))
}
