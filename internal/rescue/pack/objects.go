package pack

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

// NoReplace makes git read objects by their own names, although the user may have replaced them by others.
const NoReplace = "GIT_NO_REPLACE_OBJECTS=1"

// Object is what git cat-file prints.
type Object struct {
	Name, Kind string // kind is empty if there is no such object
	Size       int64
	Data       []byte
}

// ErrObject says that git printed something else than the object that was asked for.
var ErrObject = errors.New("read git cat-file: the output ends early")

// ParseObjectHead parses a line of git cat-file --batch-check.
func ParseObjectHead(line string) (o Object, err error) {
	f := strings.Fields(line)
	switch {
	case strings.HasSuffix(line, " missing"):
		return Object{Name: strings.TrimSuffix(line, " missing")}, nil
	case len(f) != 3:
		return o, fmt.Errorf("read git cat-file: %.100q", line)
	}

	size, err := strconv.ParseInt(f[2], 10, 64)
	return Object{Name: f[0], Kind: f[1], Size: size}, err
}

// parseObject parses the next object of the output of git cat-file --batch.
func parseObject(said []byte) (o Object, rest []byte, err error) {
	line, rest, ok := bytes.Cut(said, []byte{'\n'})
	if !ok {
		return o, nil, ErrObject
	}
	if o, err = ParseObjectHead(string(line)); err != nil || o.Kind == "" {
		return o, rest, err
	}

	if int64(len(rest)) <= o.Size {
		return o, nil, ErrObject
	}

	o.Data = rest[:o.Size]
	return o, rest[o.Size+1:], nil
}

// ReadObjects reads objects of a repository, in the order of their names.
func ReadObjects(ctx context.Context, g git.Isolated, names []string) ([]Object, error) {
	if len(names) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	lines := strings.NewReader(strings.Join(names, "\n") + "\n")
	if _, err := g.WithEnv(NoReplace).Run(ctx, lines, &out, "cat-file", "--batch"); err != nil {
		return nil, err
	}

	said := out.Bytes()
	all := make([]Object, 0, len(names))
	for range names {
		o, rest, err := parseObject(said)
		if err != nil {
			return nil, err
		}

		said = rest
		if o.Kind != "" && o.Name != ObjectName(NewHash(o.Name), o.Kind, o.Data) {
			return nil, fmt.Errorf("object %s is damaged", o.Name)
		}
		all = append(all, o)
	}

	return all, nil
}

// ObjectName returns git's name of an object.
func ObjectName(h hash.Hash, kind string, data []byte) string {
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// NewHash returns the hash that git uses for objects with such names.
func NewHash(name string) hash.Hash {
	if len(name) == 2*sha256.Size {
		return sha256.New()
	}
	return sha1.New()
}
