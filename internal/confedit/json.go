package confedit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tailscale/hujson"
)

// maxDepth is how deeply brackets may be nested. The parser recurses without a limit, and Go can't recover
// from a full stack.
const maxDepth = 1000

// jsonDoc is a parsed JSON file, with comments and trailing commas if it has any.
type jsonDoc struct {
	src  []byte
	root hujson.Value
}

// parseJSON parses a file. It is strict, but allows comments and trailing commas. Nobody changes the
// document: others may have it, too.
func parseJSON(src []byte) (*jsonDoc, error) {
	if d := recentJSON.findDocument(src); d != nil {
		return d, nil
	}

	d, err := parseNewJSON(src)
	if err == nil {
		recentJSON.addDocument(d)
	}
	return d, err
}

// recentJSON are the documents that were parsed last, while somebody keeps them.
var recentJSON recent

type recent struct {
	mu      sync.Mutex // guards what follows
	keepers int
	docs    [3]*jsonDoc // the first is the last that was parsed or found
}

// CacheParsed has the last JSON files that are parsed kept until release is called. Whoever asks several
// times about one file, before and after an edit, has it parsed once: some have megabytes. A process that
// sleeps keeps none.
func CacheParsed() (release func()) {
	r := &recentJSON
	r.mu.Lock()
	defer r.mu.Unlock()

	r.keepers++
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.keepers--; r.keepers == 0 {
			clear(r.docs[:])
		}
	}
}

// findDocument returns the document of a text, nil if it isn't kept.
func (r *recent) findDocument(src []byte) *jsonDoc {
	r.mu.Lock()
	defer r.mu.Unlock()

	for i, d := range r.docs {
		if d != nil && bytes.Equal(d.src, src) {
			copy(r.docs[1:i+1], r.docs[:i])
			r.docs[0] = d
			return d
		}
	}
	return nil
}

func (r *recent) addDocument(d *jsonDoc) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.keepers > 0 {
		copy(r.docs[1:], r.docs[:])
		r.docs[0] = d
	}
}

func parseNewJSON(src []byte) (*jsonDoc, error) {
	if line, col, deep := findTooDeep(src); deep {
		return nil, &MalformedError{Line: line, Col: col, Why: "brackets are nested too deeply"}
	}

	// The parser wants a line end after a line comment, even at the end of the file. Adding one there
	// moves no offset.
	text := append(slices.Clip(src), '\n')
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, jsonError(src, err)
	}

	d := &jsonDoc{src: text[:len(src):len(src)], root: root}
	if i := d.findHiddenLineEnd(); i >= 0 {
		line, col := positionOf(src, i)
		return nil, &MalformedError{Line: line, Col: col, Why: "a comment goes on behind a carriage return, where some programs end it"}
	}
	return d, nil
}

// jsonError takes the place from the parser's message, and leaves out the contents that it quotes.
func jsonError(src []byte, err error) error {
	m := &MalformedError{Line: 1, Col: 1}
	place, why, ok := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
	if _, scan := fmt.Sscanf(place, "line %d, column %d", &m.Line, &m.Col); scan != nil || !ok {
		why = "isn't JSON"
	}

	if line, col := positionOf(src, len(src)); m.Line > line {
		// The place is behind the line end that the parser got in addition.
		m.Line, m.Col = line, col
	}

	// The parser quotes the literal, which may be a secret.
	if strings.HasPrefix(why, "invalid literal") {
		why = "invalid literal"
	}

	m.Why = why
	return m
}

// findTooDeep counts brackets outside of strings and comments.
func findTooDeep(src []byte) (line, col int, deep bool) {
	n := 0

	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '"':
			// Brackets in a string don't count.
			for i++; i < len(src) && src[i] != '"'; i++ {
				if src[i] == '\\' {
					i++
				}
			}
		case '/':
			var end int
			switch rest := src[i:]; {
			case bytes.HasPrefix(rest, []byte("//")):
				end = bytes.IndexByte(rest, '\n')
			case bytes.HasPrefix(rest, []byte("/*")):
				if end = bytes.Index(rest[2:], []byte("*/")); end >= 0 {
					end += 3
				}
			}
			if end < 0 {
				// The rest is a comment.
				return 0, 0, false
			}
			i += end
		case '{', '[':
			n++
		case '}', ']':
			n--
		}

		if n > maxDepth {
			line, col = positionOf(src, i)
			return line, col, true
		}
	}
	return 0, 0, false
}

// positionOf is the line and column of src[i], from 1.
func positionOf(src []byte, i int) (line, col int) {
	return 1 + bytes.Count(src[:i], []byte("\n")), 1 + i - lineStart(src, i)
}

// findHiddenLineEnd finds a carriage return inside a line comment, -1 if there is none. To the parser the
// comment goes on after it; to JavaScript it ends there, and the rest of the line counts.
func (d *jsonDoc) findHiddenLineEnd() int {
	src := d.src
	if !bytes.ContainsRune(src, '\r') {
		return -1
	}

	found := -1
	search := func(from, to int) {
		l := list{src: src}
		_, comments, _ := l.readGap(from, min(to, len(src)))
		for _, c := range comments {
			i := bytes.IndexByte(src[c.start:c.end], '\r')
			if found < 0 && i >= 0 && l.isLineComment(c) && c.start+i < len(src)-1 {
				found = c.start + i
			}
		}
	}

	// Comments stand before values, after them, and before closing brackets.
	for v := range d.root.All() {
		search(v.StartOffset-len(v.BeforeExtra), v.StartOffset)
		search(v.EndOffset, v.EndOffset+len(v.AfterExtra))
		if l, ok := d.listOf(v); ok && len(l.items) > 0 {
			search(l.items[len(l.items)-1].end, l.close)
		} else if ok {
			search(l.open, l.close)
		}
	}
	return found
}

// listOf returns the items of an object or array; ok is false for other values.
func (d *jsonDoc) listOf(v *hujson.Value) (l list, ok bool) {
	l = list{src: d.src, open: v.StartOffset + 1, close: v.EndOffset - 1}

	switch c := v.Value.(type) {
	case *hujson.Object:
		for _, m := range c.Members {
			l.items = append(l.items, span{m.Name.StartOffset, m.Value.EndOffset})
		}
	case *hujson.Array:
		for _, e := range c.Elements {
			l.items = append(l.items, span{e.StartOffset, e.EndOffset})
		}
	default:
		return l, false
	}

	return l, true
}

// kindText names what a value is.
func kindText(v *hujson.Value) string {
	switch v.Value.Kind() {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	default:
		return "true or false"
	}
}

// findMember finds a key in an object: its index, -1 if it isn't there. path leads to the object.
func findMember(v *hujson.Value, path []string, key string) (int, error) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return -1, &PathError{Path: path, Why: "is " + kindText(v) + ", not an object"}
	}

	at := -1
	for i := range obj.Members {
		if keyOf(&obj.Members[i]) != key {
			continue
		}

		if at >= 0 {
			return -1, &PathError{Path: append(slices.Clone(path), key), Why: "stands there twice, and programs don't agree which one counts"}
		}
		at = i
	}
	return at, nil
}

// walkPath follows a path of keys from the root, as far as it exists. steps[0] is the root, steps[i] the
// value at path[:i], index[i] the place of path[i] in steps[i].
func (d *jsonDoc) walkPath(path []string) (steps []*hujson.Value, index []int, err error) {
	v := &d.root
	steps = append(steps, v)

	for i, key := range path {
		at, err := findMember(v, path[:i], key)
		if err != nil {
			return nil, nil, err
		}
		if at < 0 {
			break
		}

		v = &v.Value.(*hujson.Object).Members[at].Value
		steps, index = append(steps, v), append(index, at)
	}
	return steps, index, nil
}

// rawJSON returns a value as plain JSON.
func rawJSON(v *hujson.Value) json.RawMessage {
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Minimize()
	return json.RawMessage(c.Pack())
}

// JSONGet returns the value at a path of keys as plain JSON. found is false if there is none, and for a
// blank file. Its errors are those of an [Edit].
func JSONGet(src []byte, path []string) (value json.RawMessage, found bool, err error) {
	src = bytes.TrimPrefix(src, []byte(bom))
	if isBlank(src) {
		return nil, false, nil
	}

	d, err := parseJSON(src)
	if err != nil {
		return nil, false, err
	}

	steps, _, err := d.walkPath(path)
	if err != nil || len(steps) <= len(path) {
		return nil, false, err
	}
	return rawJSON(steps[len(path)]), true, nil
}

// isBlank reports whether a file holds nothing but white space.
func isBlank(src []byte) bool { return len(bytes.TrimSpace(bytes.TrimPrefix(src, []byte(bom)))) == 0 }
