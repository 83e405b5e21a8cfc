package rescue

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/git"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
)

// indexLine is an entry of the index.
type indexLine struct {
	path         string
	assume, skip bool
	manifest.Version
}

// listIndex asks git for all entries of the index.
func listIndex(ctx context.Context, g git.Isolated) ([]indexLine, error) {
	var said bytes.Buffer
	if _, err := g.Run(ctx, nil, &said, "ls-files", "-v", "-s", "-z"); err != nil {
		return nil, err
	}

	lines, ok := indexLines(said.Bytes())
	if !ok {
		return nil, errStatus
	}
	return lines, nil
}

// indexLines parses <tag> <mode> <oid> <stage>\t<path>, each with a NUL after it. A lower-case tag marks a
// file that git takes for unchanged, S one that isn't wanted in the working tree.
func indexLines(said []byte) (lines []indexLine, ok bool) {
	// One conversion for all lines: an index may have very many.
	rest := string(said)
	lines = make([]indexLine, 0, strings.Count(rest, "\x00"))
	for rest != "" {
		record, after, ok := strings.Cut(rest, "\x00")
		rest = after

		facts, path, found := strings.Cut(record, "\t")
		tag, facts, tagged := strings.Cut(facts, " ")
		mode, facts, _ := strings.Cut(facts, " ")
		oid, stage, _ := strings.Cut(facts, " ")

		if !ok || !found || !tagged || len(tag) != 1 || mode == "" || oid == "" || len(stage) != 1 {
			return nil, false
		}

		lines = append(lines, indexLine{
			path: path, assume: tag[0] >= 'a' && tag[0] <= 'z', skip: tag[0]|0x20 == 's',
			Version: manifest.Version{Mode: mode, OID: oid, Stage: int(stage[0] - '0')},
		})
	}
	return lines, true
}

// indexFacts are what status doesn't tell of an index: the entries with flags, and submodules. They hold for as
// long as the file has the same stamp. To list all of a large index takes a fifth as long as status.
type indexFacts struct {
	stamp plainfile.Stamp // zero if nothing is known
	lines []indexLine
}

// maxFacts bounds how many entries are remembered. In a sparse checkout nearly all have a flag.
const maxFacts = 1000

func newIndexFacts(stamp plainfile.Stamp, lines []indexLine) indexFacts {
	f := indexFacts{stamp: stamp}
	for _, l := range lines {
		if l.assume || l.skip || l.IsSubmodule() {
			f.lines = append(f.lines, l)
		}
	}

	if len(f.lines) > maxFacts {
		return indexFacts{}
	}
	return f
}

// holds reports whether the facts are those of an index with this stamp.
func (f indexFacts) holds(stamp plainfile.Stamp) bool {
	return f.stamp != plainfile.Stamp{} && f.stamp == stamp
}

func (f indexFacts) isSame(o indexFacts) bool {
	return f.stamp == o.stamp && slices.Equal(f.lines, o.lines)
}

// stampIndex returns the stamp of a checkout's index, which is looked at before it is read. It is zero where the
// index may change without getting another one, and for an index that isn't the checkout's own.
func stampIndex(r Request, at time.Time) plainfile.Stamp {
	info, err := os.Lstat(filepath.Join(r.Tree.Git, "index"))
	if err != nil || r.Index != "" {
		return plainfile.Stamp{}
	}

	s := plainfile.StampOf(info)
	if !s.IsSettled(at) {
		return plainfile.Stamp{}
	}
	return s
}
