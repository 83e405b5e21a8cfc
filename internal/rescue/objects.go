package rescue

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
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
