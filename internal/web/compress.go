package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

// leastCompressed is how long an answer is at least that is compressed, in bytes. Shorter ones fit into a packet.
const leastCompressed = 1 << 10

// sendText answers with a text, compressed for those who take that: a review of 300 KB may go to a phone.
func sendText(w http.ResponseWriter, r *http.Request, status int, text string) {
	w.Header().Set("Vary", "Accept-Encoding")
	if len(text) < leastCompressed || !takesGzip(r) {
		w.WriteHeader(status)
		// The browser may have left.
		_, _ = w.Write([]byte(text))
		return
	}

	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	packed := gzip.NewWriter(w)
	_, _ = packed.Write([]byte(text))
	_ = packed.Close()
}

// takesGzip reports whether whoever asks can read an answer that gzip has compressed.
func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.ToLower(strings.TrimSpace(one)), ";")
		if name != "gzip" {
			continue
		}

		q, isGiven := strings.CutPrefix(strings.TrimSpace(quality), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !isGiven || err == nil && weight > 0
	}
	return false
}

// staticFile is a file that needs no session.
type staticFile struct {
	name string
	text []byte
	sum  string // of its text, as the tag of all its forms, compressed or not
}

// readStaticFiles returns the files of a folder, by their paths.
func readStaticFiles(from embed.FS, folder string) map[string]staticFile {
	found := map[string]staticFile{}
	entries, err := from.ReadDir(folder)
	if err != nil {
		// The folder is part of the program.
		panic(err)
	}

	for _, e := range entries {
		text, err := fs.ReadFile(from, path.Join(folder, e.Name()))
		if err != nil {
			panic(err)
		}

		sum := sha256.Sum256(text)
		found["/"+folder+"/"+e.Name()] = staticFile{e.Name(), text, `W/"` + hex.EncodeToString(sum[:8]) + `"`}
	}

	return found
}

// serveStatic answers with a file. It may have changed with the program, so a browser asks each time, and gets it
// only if it has another one.
func serveStatic(files map[string]staticFile) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}

		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Etag", f.sum)
		w.Header().Set("Vary", "Accept-Encoding")

		// Whoever asks by a tag mostly has the file already, and else gets it as it is.
		if takesGzip(r) && r.Header.Get("If-None-Match") == "" {
			w.Header().Set("Content-Type", contentTypes[path.Ext(f.name)])
			sendText(w, r, http.StatusOK, string(f.text))
			return
		}

		http.ServeContent(w, r, f.name, time.Time{}, bytes.NewReader(f.text))
	}
}

// contentTypes are those of the files, by the ends of their names: a machine's own table may say something else.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}
