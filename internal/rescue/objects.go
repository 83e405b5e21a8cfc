package rescue

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"talkingstick/internal/git"
)

// noReplace makes git read objects by their own names, although the user may have replaced them by others.
const noReplace = "GIT_NO_REPLACE_OBJECTS=1"

// object is what git cat-file prints.
type object struct {
	name, kind string // kind is empty if there is no such object
	size       int64
	data       []byte
}

var errObject = errors.New("read git cat-file: the output ends early")

// parseObjectHead parses a line of git cat-file --batch-check.
func parseObjectHead(line string) (o object, err error) {
	f := strings.Fields(line)
	switch {
	case strings.HasSuffix(line, " missing"):
		return object{name: strings.TrimSuffix(line, " missing")}, nil
	case len(f) != 3:
		return o, fmt.Errorf("read git cat-file: %.100q", line)
	}

	size, err := strconv.ParseInt(f[2], 10, 64)
	return object{name: f[0], kind: f[1], size: size}, err
}

// parseObject parses the next object of the output of git cat-file --batch.
func parseObject(said []byte) (o object, rest []byte, err error) {
	line, rest, ok := bytes.Cut(said, []byte{'\n'})
	if !ok {
		return o, nil, errObject
	}
	if o, err = parseObjectHead(string(line)); err != nil || o.kind == "" {
		return o, rest, err
	}

	if int64(len(rest)) <= o.size {
		return o, nil, errObject
	}

	o.data = rest[:o.size]
	return o, rest[o.size+1:], nil
}

// readObjects reads objects of a repository, in the order of their names.
func readObjects(ctx context.Context, g git.Isolated, names []string) ([]object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	lines := strings.NewReader(strings.Join(names, "\n") + "\n")
	if _, err := g.WithEnv(noReplace).Run(ctx, lines, &out, "cat-file", "--batch"); err != nil {
		return nil, err
	}

	said := out.Bytes()
	all := make([]object, 0, len(names))
	for range names {
		o, rest, err := parseObject(said)
		if err != nil {
			return nil, err
		}

		said = rest
		if o.kind != "" && o.name != objectName(newHash(o.name), o.kind, o.data) {
			return nil, fmt.Errorf("object %s is damaged", o.name)
		}
		all = append(all, o)
	}

	return all, nil
}

// objectName returns git's name of an object.
func objectName(h hash.Hash, kind string, data []byte) string {
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// newHash returns the hash that git uses for objects with such names.
func newHash(name string) hash.Hash {
	if len(name) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}

func encodeState(st state) ([]byte, error) {
	b, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write the entries of a rescue: %w", err)
	}
	return b, nil
}

func decodeState(b []byte) (st state, err error) {
	if err := json.Unmarshal(b, &st); err != nil {
		return state{}, fmt.Errorf("read the entries of a rescue: %w", err)
	}
	return st, nil
}

// manyEntries is from how many entries on a snapshot has them in many files.
const manyEntries = 1024

// splitState divides the entries of a snapshot among files, by their paths: a change of one path changes one
// file, and the others are those of the snapshot before. It returns the files by name.
func splitState(st state) (map[string][]byte, error) {
	// One digit makes 16 files, two make 256.
	digits := 1
	if len(st.Entries) >= manyEntries {
		digits = 2
	}

	parts := map[string]state{}
	for _, e := range st.Entries {
		name := shortSum(string(e.Path), 1)[:digits]
		p := parts[name]
		p.Entries = append(p.Entries, e)
		parts[name] = p
	}

	files := map[string][]byte{}
	for name, p := range parts {
		b, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("write the entries of a rescue: %w", err)
		}
		files[name] = b
	}

	return files, nil
}

// joinState puts together what splitState has divided.
func joinState(head string, files []object) (state, error) {
	st := state{Head: head, Entries: []entry{}}
	for _, f := range files {
		if f.kind != kindNames[kindBlob] {
			return state{}, errObject
		}
		p, err := decodeState(f.data)
		if err != nil {
			return state{}, err
		}
		st.Entries = append(st.Entries, p.Entries...)
	}

	slices.SortFunc(st.Entries, func(a, b entry) int { return strings.Compare(string(a.Path), string(b.Path)) })
	return st, nil
}
