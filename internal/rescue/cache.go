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
	"talkingstick/internal/rescue/bare"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/pack"
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
	state   manifest.State
	stamps  map[string]seenStamp // by path: of files whose bytes the snapshot has
	objects map[string]pack.HeldObject
	leftOut []manifest.LeftOut
	nested  []manifest.Nested
	index   indexFacts
	file    []byte // that it was read from
}

// seenStamp is a stamp and when it was taken. A stamp that may stand for other bytes, too, is zero.
type seenStamp struct {
	plainfile.Stamp
	at int64 // in nanoseconds since 1970
}

// cacheVersion begins each file of a cache.
const cacheVersion = "tt state 2\n"

func (r *repository) cachePath(checkout string) string {
	return r.PathTo(bare.StateName + "/" + checkout)
}

// readCache returns what is known of a checkout, or nil.
func (r *repository) readCache(tree workspace.Checkout) *cache { return r.readCacheAgain(tree, nil) }

// readCacheAgain is [repository.readCache] after that has returned was. A file that is still the same isn't
// decoded again.
func (r *repository) readCacheAgain(tree workspace.Checkout, was *cache) *cache {
	b, err := plainfile.Read(r.cachePath(bare.CheckoutName(tree)))
	if err != nil {
		return nil
	}
	if was != nil && bytes.Equal(b, was.file) {
		return was
	}

	c, ok := decodeCache(b)
	if !ok || c.top != tree.Top {
		return nil
	}

	c.file = b
	return c
}

// writeCache writes what is known of a checkout, whose lock is held. If it can't, or dies, the next snapshot
// reads everything again. So the file isn't replaced by another one: making that takes a good part of the
// time of a snapshot.
func (r *repository) writeCache(tree workspace.Checkout, c *cache) {
	path := r.cachePath(bare.CheckoutName(tree))
	f, err := plainfile.Open(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC)
	if err != nil {
		return
	}

	// The file is empty now. A process that ends here leaves none that decodeCache takes for one.
	r.Kill("cache")
	_, err = f.Write(encodeCache(c))
	if cerr := f.Close(); err != nil || cerr != nil {
		os.Remove(path)
	}
}

// encodeCache writes the version, the fields, and a checksum of both.
func encodeCache(c *cache) []byte {
	w := &cacheWriter{b: append(make([]byte, 0, 64<<10), cacheVersion...), packs: map[string]uint64{}}
	for _, text := range []string{c.top, c.id, c.tree, c.branch, c.state.Head} {
		w.writeText(text)
	}
	w.writeNumber(int64(c.files))
	w.writeNumber(c.bytes)

	w.writeNumber(int64(len(c.state.Entries)))
	for _, e := range c.state.Entries {
		w.writeEntry(e)
		seen := c.stamps[string(e.Path)]
		w.writeStamp(seen.Stamp)
		w.writeNumber(seen.at)
	}

	w.writeNumber(int64(len(c.objects)))
	for name, o := range c.objects {
		w.writeObjectName(name)
		w.writePackID(o.Pack)
		w.writeNumber(o.Size)
	}

	w.writeNumber(int64(len(c.leftOut)))
	for _, l := range c.leftOut {
		w.writeText(l.Path)
		w.writeText(string(l.Why))
		w.writeNumber(int64(l.Files))
	}

	w.writeNumber(int64(len(c.nested)))
	for _, n := range c.nested {
		w.writeText(n.Path)
		w.writeText(n.ID)
	}

	w.writeStamp(c.index.stamp)
	w.writeNumber(int64(len(c.index.lines)))
	for _, l := range c.index.lines {
		w.writeEntry(manifest.Entry{
			Path: manifest.BytesText(l.path), Assume: l.assume, Skip: l.skip, Index: []manifest.Version{l.Version},
		})
	}

	sum := sha1.Sum(w.b)
	return append(w.b, sum[:]...)
}

// decodeCache reads what encodeCache has written. ok is false for anything else.
func decodeCache(b []byte) (c *cache, ok bool) {
	if len(b) < len(cacheVersion)+sha1.Size || string(b[:len(cacheVersion)]) != cacheVersion {
		return nil, false
	}

	// A file that was cut off, or written by two at the same time, fails here.
	b, sum := b[:len(b)-sha1.Size], b[len(b)-sha1.Size:]
	if now := sha1.Sum(b); !bytes.Equal(now[:], sum) {
		return nil, false
	}

	r := &cacheReader{b: string(b[len(cacheVersion):])}

	// Go calls these readers in the order in which they stand.
	c = &cache{
		top: r.readText(), id: r.readText(), tree: r.readText(), branch: r.readText(),
		state: manifest.State{Head: r.readText()},
	}
	c.files, c.bytes = int(r.readNumber()), r.readNumber()

	n := r.readCount()
	c.state.Entries, c.stamps = make([]manifest.Entry, n), make(map[string]seenStamp, n)
	for i := range c.state.Entries {
		e := r.readEntry()
		seen := seenStamp{Stamp: r.readStamp(), at: r.readNumber()}
		c.state.Entries[i], c.stamps[string(e.Path)] = e, seen
	}

	n = r.readCount()
	c.objects = make(map[string]pack.HeldObject, n)
	for range n {
		name := r.readObjectName()
		c.objects[name] = pack.HeldObject{Pack: r.readPackID(), Size: r.readNumber()}
	}

	for range r.readCount() {
		c.leftOut = append(c.leftOut, manifest.LeftOut{Path: r.readText(), Why: manifest.Why(r.readText()), Files: int(r.readNumber())})
	}
	for range r.readCount() {
		c.nested = append(c.nested, manifest.Nested{Path: r.readText(), ID: r.readText()})
	}

	c.index.stamp = r.readStamp()
	for range r.readCount() {
		e := r.readEntry()
		if len(e.Index) != 1 {
			return nil, false
		}
		c.index.lines = append(c.index.lines, indexLine{string(e.Path), e.Assume, e.Skip, e.Index[0]})
	}

	return c, !r.failed && r.b == ""
}

// cacheWriter appends values to a cache. Each pack is written once, and by its number after that.
type cacheWriter struct {
	b     []byte
	packs map[string]uint64
}

func (w *cacheWriter) writeNumber(n int64) { w.b = binary.AppendVarint(w.b, n) }

func (w *cacheWriter) writeStamp(s plainfile.Stamp) {
	for _, n := range []int64{s.Size, int64(s.Mode), s.ModTime, s.ChangeTime, int64(s.Inode)} {
		w.writeNumber(n)
	}
}

func (w *cacheWriter) writeText(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

// writeObjectName writes the name of an object as bytes; none is written as no bytes.
func (w *cacheWriter) writeObjectName(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)/2))

	// Names come from git or from us: they are hexadecimal.
	w.b, _ = hex.AppendDecode(w.b, []byte(s))
}

func (w *cacheWriter) writePackID(id string) {
	n, ok := w.packs[id]
	if ok {
		w.b = binary.AppendUvarint(w.b, n)
		return
	}

	// The first time, the id follows its number.
	n = uint64(len(w.packs))
	w.packs[id] = n
	w.b = binary.AppendUvarint(w.b, n)
	w.writeText(id)
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

func (w *cacheWriter) writeEntry(e manifest.Entry) {
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

	w.writeText(string(e.Path))
	w.writeNumber(bits)

	if e.Head != nil {
		w.writeVersion(*e.Head)
	}

	w.writeNumber(int64(len(e.Index)))
	for _, v := range e.Index {
		w.writeVersion(v)
	}

	if e.Work != nil {
		w.writeText(e.Work.Mode)
		w.writeNumber(int64(e.Work.Perm))
		w.writeNumber(e.Work.Size)
		w.writeObjectName(e.Work.Blob)
	}
}

func (w *cacheWriter) writeVersion(v manifest.Version) {
	w.writeText(v.Mode)
	w.writeObjectName(v.OID)
	w.writeNumber(int64(v.Stage))
	w.writeObjectName(v.Blob)
}

// cacheReader reads values from a cache. After the first that isn't there, everything is zero.
type cacheReader struct {
	b      string
	packs  []string
	failed bool
}

func (r *cacheReader) markFailed() {
	r.failed, r.b = true, ""
}

// readUvarint decodes as [binary.Uvarint] does, of a string.
func (r *cacheReader) readUvarint() (n uint64) {
	for i := 0; i < len(r.b) && i < binary.MaxVarintLen64; i++ {
		n |= uint64(r.b[i]&0x7f) << (7 * i)
		if r.b[i] < 0x80 {
			r.b = r.b[i+1:]
			return n
		}
	}

	r.markFailed()
	return 0
}

func (r *cacheReader) readNumber() int64 {
	n := r.readUvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (r *cacheReader) readStamp() plainfile.Stamp {
	return plainfile.Stamp{
		Size: r.readNumber(), Mode: fs.FileMode(r.readNumber()), ModTime: r.readNumber(),
		ChangeTime: r.readNumber(), Inode: uint64(r.readNumber()),
	}
}

// readCount reads how many of something follow, each of which takes a byte or more.
func (r *cacheReader) readCount() int {
	n := r.readNumber()
	if n < 0 || n > int64(len(r.b)) {
		r.markFailed()
		return 0
	}
	return int(n)
}

func (r *cacheReader) readText() string {
	n := r.readUvarint()
	if n > uint64(len(r.b)) {
		r.markFailed()
		return ""
	}

	s := r.b[:n]
	r.b = r.b[n:]
	return s
}

func (r *cacheReader) readObjectName() string { return hex.EncodeToString([]byte(r.readText())) }

func (r *cacheReader) readPackID() string {
	n := r.readUvarint()
	switch {
	case n < uint64(len(r.packs)):
		return r.packs[n]
	case n == uint64(len(r.packs)) && !r.failed:
		r.packs = append(r.packs, r.readText())
		return r.packs[n]
	}

	r.markFailed()
	return ""
}

func (r *cacheReader) readEntry() (e manifest.Entry) {
	e.Path = manifest.BytesText(r.readText())
	bits := r.readNumber()
	e.Intent, e.Assume, e.Skip = bits&bitIntent != 0, bits&bitAssume != 0, bits&bitSkip != 0
	e.Ignored, e.LeftOut, e.Unsure = bits&bitIgnored != 0, bits&bitLeftOut != 0, bits&bitUnsure != 0

	if bits&bitHead != 0 {
		v := r.readVersion()
		e.Head = &v
	}

	for range r.readCount() {
		e.Index = append(e.Index, r.readVersion())
	}

	if bits&bitWork != 0 {
		e.Work = &manifest.WorkFile{
			Mode: r.readText(), Perm: fs.FileMode(r.readNumber()), Size: r.readNumber(), Blob: r.readObjectName(),
		}
	}

	return e
}

func (r *cacheReader) readVersion() manifest.Version {
	return manifest.Version{Mode: r.readText(), OID: r.readObjectName(), Stage: int(r.readNumber()), Blob: r.readObjectName()}
}

// seenStampOf returns a stamp for the cache. at is when the file was looked at, before it was read.
func seenStampOf(s plainfile.Stamp, at time.Time) seenStamp {
	if !s.IsSettled(at) {
		s = plainfile.Stamp{}
	}
	return seenStamp{s, at.UnixNano()}
}
