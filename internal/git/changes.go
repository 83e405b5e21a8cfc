package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"talkingstick/stick/diff"
)

// Change is a file in which two commits differ.
type Change struct {
	From string // its path in the first commit; empty if that doesn't have it
	Path string // its path in the second commit; empty if that doesn't have it
}

// anyPath returns a path of the file: that in the second commit, if there is one.
func (c Change) anyPath() string {
	if c.Path == "" {
		return c.From
	}
	return c.Path
}

// Changes lists the files in which two commits differ. It finds renames. What became something of another
// type at the same path is listed twice: as gone, and as new.
func (c Client) Changes(ctx context.Context, dir, from, to string) ([]Change, error) {
	fields, err := c.runList(ctx, dir, "diff-tree", "-r", "--name-status", "-z", "-M", "-l1000", from, to)
	if err != nil {
		return nil, err
	}

	var changes []Change
	for len(fields) > 0 {
		// A record is a status and a path, or two paths after a rename.
		status, names := fields[0], 1
		if status[:1] == "R" {
			names = 2
		}
		if len(fields) < 1+names {
			return nil, fmt.Errorf("git diff-tree printed %q", fields)
		}

		first, last := fields[1], fields[names]
		switch status[:1] {
		case "A":
			first = ""
		case "D":
			last = ""
		case "T":
			// A link in the place of a file, for example: git shows that as one file that is gone and a new
			// one.
			changes, first = append(changes, Change{From: first}), ""
		}

		changes, fields = append(changes, Change{first, last}), fields[1+names:]
	}

	return changes, nil
}

// Hunks returns how the lines of files differ between two commits, of those files for which git shows that.
// The changes are some that [Client.Changes] has listed.
func (c Client) Hunks(ctx context.Context, dir, from, to string, changes []Change) (map[Change]diff.Hunks, error) {
	out := &hunkReader{found: map[Change]diff.Hunks{}}
	for some := range slices.Chunk(changes, maxDiffPaths) {
		args := slices.Concat(
			[]string{"--literal-pathspecs", "-c", "core.quotePath=true", "diff-tree", "-r", "-p", "-M", "-l1000"}, diffOptions,
			[]string{"-U0", "--inter-hunk-context=0", from, to, "--"},
		)

		// Without its former path, git wouldn't find that a file was renamed.
		for _, x := range some {
			if args = append(args, x.anyPath()); x.From != "" && x.From != x.Path {
				args = append(args, x.From)
			}
		}

		if err := c.runWrite(ctx, writeCall{dir: dir, out: out}, args...); err != nil {
			return nil, err
		}
	}

	return out.found, nil
}

// hunkReader reads the hunks from a diff while it arrives. It keeps none of the lines, so that large files
// cost no memory.
type hunkReader struct {
	found  map[Change]diff.Hunks
	reader diff.PatchReader
	part   []byte // the beginning of a line whose end hasn't arrived yet
}

// Write reads a part of the diff. It never fails, so that git can run to its end.
func (r *hunkReader) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, whole := bytes.Cut(p, []byte("\n"))

		// What is longer than any header is a line of a file, and isn't needed.
		r.part = append(r.part, line[:min(len(line), maxHeader-len(r.part))]...)
		if !whole {
			return n, nil
		}

		// The reader knows of which file the hunk is, by the headers before it.
		if l := r.reader.Next(string(r.part)); l.Hunk != nil {
			x := Change{r.reader.Old, r.reader.New}
			r.found[x] = append(r.found[x], *l.Hunk)
		}

		r.part, p = r.part[:0], rest
	}
}
