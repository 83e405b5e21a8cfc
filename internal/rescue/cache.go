package rescue

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"io/fs"
	"os"
	"time"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/workspace"
)

// cache is what is known of a checkout since its last snapshot: how each path was, and where its bytes lie.
// It only saves work: one that is missing, damaged or of a newer program is as none, and then everything is
// read and written again.
type cache struct {
	top     string // the checkout, so that none takes another's
	id      string // of the last snapshot
	tree    string // of its commit
	branch  string
	files   int
	bytes   int64
	state   state
	stamps  map[string]seenStamp // by path: of files whose bytes the snapshot has
	objects map[string]heldObject
	leftOut []LeftOut
	nested  []Nested
}

// seenStamp is a stamp and when it was taken. A stamp that may stand for other bytes, too, is zero.
type seenStamp struct {
	stamp
	at int64 // in nanoseconds since 1970
}

// heldObject is where an object lies.
type heldObject struct {
	pack string // the id of the snapshot whose pack has it
	size int64  // of its bytes
}

const (
	stateName    = "state" // of the directory of caches, in a repository
	cacheVersion = "tt state 1\n"
)

func (r *repository) cachePath(checkout string) string { return r.dir(stateName + "/" + checkout) }

// readCache returns what is known of a checkout, or nil.
func (r *repository) readCache(tree workspace.Checkout) *cache {
	b, err := plainfile.Read(r.cachePath(checkoutName(tree)))
	if err != nil {
		return nil
	}
	c, ok := decodeCache(b)
	if !ok || c.top != tree.Top {
		return nil
	}
	return c
}

// writeCache writes what is known of a checkout, whose lock is held. If it can't, or dies, the next snapshot
// reads everything again. So the file isn't replaced by another one: making that takes a good part of the
// time of a snapshot.
func (r *repository) writeCache(tree workspace.Checkout, c *cache) {
	path := r.cachePath(checkoutName(tree))
	f, err := plainfile.Open(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return
	}
	r.store.kill("cache")
	_, err = f.Write(encodeCache(c))
	if cerr := f.Close(); err != nil || cerr != nil {
		os.Remove(path)
	}
}

// encodeCache writes the version, the fields, and a checksum of both.
func encodeCache(c *cache) []byte {
	w := &cacheWriter{b: append(make([]byte, 0, 64<<10), cacheVersion...), packs: map[string]uint64{}}
	for _, text := range []string{c.top, c.id, c.tree, c.branch, c.state.Head} {
		w.text(text)
	}
	w.number(int64(c.files))
	w.number(c.bytes)

	w.number(int64(len(c.state.Entries)))
	for _, e := range c.state.Entries {
		w.entry(e)
		seen := c.stamps[string(e.Path)]
		for _, n := range []int64{seen.Size, int64(seen.Mode), seen.ModTime, seen.ChangeTime, int64(seen.Inode), seen.at} {
			w.number(n)
		}
	}

	w.number(int64(len(c.objects)))
	for name, o := range c.objects {
		w.name(name)
		w.pack(o.pack)
		w.number(o.size)
	}

	w.number(int64(len(c.leftOut)))
	for _, l := range c.leftOut {
		w.text(l.Path)
		w.text(string(l.Why))
		w.number(int64(l.Files))
	}
	w.number(int64(len(c.nested)))
	for _, n := range c.nested {
		w.text(n.Path)
		w.text(n.ID)
	}
	sum := sha1.Sum(w.b)
	return append(w.b, sum[:]...)
}

// decodeCache reads what encodeCache has written. ok is false for anything else.
func decodeCache(b []byte) (c *cache, ok bool) {
	if len(b) < len(cacheVersion)+sha1.Size || string(b[:len(cacheVersion)]) != cacheVersion {
		return nil, false
	}
	b, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	if now := sha1.Sum(b); !bytes.Equal(now[:], sum) {
		return nil, false
	}
	r := &cacheReader{b: string(b[len(cacheVersion):])}
	c = &cache{top: r.text(), id: r.text(), tree: r.text(), branch: r.text(), state: state{Head: r.text()}}
	c.files, c.bytes = int(r.number()), r.number()

	n := r.count()
	c.state.Entries, c.stamps = make([]entry, n), make(map[string]seenStamp, n)
	for i := range c.state.Entries {
		e := r.entry()
		seen := seenStamp{stamp: stamp{Size: r.number(), Mode: fs.FileMode(r.number()), ModTime: r.number(), ChangeTime: r.number(), Inode: uint64(r.number())}}
		seen.at = r.number()
		c.state.Entries[i], c.stamps[string(e.Path)] = e, seen
	}

	n = r.count()
	c.objects = make(map[string]heldObject, n)
	for range n {
		name := r.name()
		c.objects[name] = heldObject{pack: r.pack(), size: r.number()}
	}

	for range r.count() {
		c.leftOut = append(c.leftOut, LeftOut{Path: r.text(), Why: Why(r.text()), Files: int(r.number())})
	}
	for range r.count() {
		c.nested = append(c.nested, Nested{Path: r.text(), ID: r.text()})
	}
	return c, !r.failed && r.b == ""
}

// cacheWriter appends values to a cache. Each pack is written once, and by its number after that.
type cacheWriter struct {
	b     []byte
	packs map[string]uint64
}

func (w *cacheWriter) number(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *cacheWriter) text(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

// name writes the name of an object as bytes; none is written as no bytes.
func (w *cacheWriter) name(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)/2))
	w.b, _ = hex.AppendDecode(w.b, []byte(s)) // names come from git or from us
}

func (w *cacheWriter) pack(id string) {
	n, ok := w.packs[id]
	if ok {
		w.b = binary.AppendUvarint(w.b, n)
		return
	}
	n = uint64(len(w.packs))
	w.packs[id] = n
	w.b = binary.AppendUvarint(w.b, n)
	w.text(id)
}

// Bits of an entry in a cache.
const (
	bitHead = 1 << iota
	bitWork
	bitIntent
	bitAssume
	bitSkip
	bitIgnored
	bitLeftOut
	bitUnsure
)

func (w *cacheWriter) entry(e entry) {
	bits := int64(0)
	for _, f := range [...]struct {
		is  bool
		bit int64
	}{
		{e.Head != nil, bitHead},
		{e.Work != nil, bitWork},
		{e.Intent, bitIntent},
		{e.Assume, bitAssume},
		{e.Skip, bitSkip},
		{e.Ignored, bitIgnored},
		{e.LeftOut, bitLeftOut},
		{e.Unsure, bitUnsure},
	} {
		if f.is {
			bits |= f.bit
		}
	}
	w.text(string(e.Path))
	w.number(bits)
	if e.Head != nil {
		w.version(*e.Head)
	}
	w.number(int64(len(e.Index)))
	for _, v := range e.Index {
		w.version(v)
	}
	if e.Work != nil {
		w.text(e.Work.Mode)
		w.number(int64(e.Work.Perm))
		w.number(e.Work.Size)
		w.name(e.Work.Blob)
	}
}

func (w *cacheWriter) version(v version) {
	w.text(v.Mode)
	w.name(v.OID)
	w.number(int64(v.Stage))
	w.name(v.Blob)
}

// cacheReader reads values from a cache. After the first that isn't there, everything is zero.
type cacheReader struct {
	b      string
	packs  []string
	failed bool
}

func (r *cacheReader) fail() {
	r.failed, r.b = true, ""
}

// uvarint decodes as [binary.Uvarint] does, of a string.
func (r *cacheReader) uvarint() (n uint64) {
	for i := 0; i < len(r.b) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(r.b[i]&0x7f) << (7 * i)
		if r.b[i] < 0x80 {
			r.b = r.b[i+1:]
			return n
		}
	}
	r.fail()
	return 0
}

func (r *cacheReader) number() int64 {
	n := r.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// count reads how many of something follow, each of which takes a byte or more.
func (r *cacheReader) count() int {
	n := r.number()
	if n < 0 || n > int64(len(r.b)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *cacheReader) text() string {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.fail()
		return ""
	}
	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *cacheReader) name() string { return hex.EncodeToString([]byte(r.text())) }

func (r *cacheReader) pack() string {
	n := r.uvarint()
	switch {
	case n < uint64(len(r.packs)):
		return r.packs[n]
	case n == uint64(len(r.packs)) && !r.failed:
		r.packs = append(r.packs, r.text())
		return r.packs[n]
	}
	r.fail()
	return ""
}

func (r *cacheReader) entry() (e entry) {
	e.Path = bytesText(r.text())
	bits := r.number()
	e.Intent, e.Assume, e.Skip = bits&bitIntent != 0, bits&bitAssume != 0, bits&bitSkip != 0
	e.Ignored, e.LeftOut, e.Unsure = bits&bitIgnored != 0, bits&bitLeftOut != 0, bits&bitUnsure != 0
	if bits&bitHead != 0 {
		v := r.version()
		e.Head = &v
	}
	for range r.count() {
		e.Index = append(e.Index, r.version())
	}
	if bits&bitWork != 0 {
		e.Work = &workFile{Mode: r.text(), Perm: fs.FileMode(r.number()), Size: r.number(), Blob: r.name()}
	}
	return e
}

func (r *cacheReader) version() version {
	return version{Mode: r.text(), OID: r.name(), Stage: int(r.number()), Blob: r.name()}
}

// seen returns a stamp for the cache. at is when the file was looked at, before it was read.
func seen(s stamp, at time.Time) seenStamp {
	if !s.settled(at) {
		s = stamp{}
	}
	return seenStamp{s, at.UnixNano()}
}
