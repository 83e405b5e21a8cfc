package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
)

// ReadFile reads a file as it is in a commit. ok is false if the commit doesn't have it.
func (c Client) ReadFile(ctx context.Context, dir, commit, path string) (content []byte, ok bool, err error) {
	found, err := c.readObjects(ctx, dir, "\n", commit+":"+path)
	if err != nil || found[0].kind != "blob" {
		return nil, false, err
	}
	return found[0].content, true, nil
}

// ReadFileOfHead reads a file as it is in the commit that is checked out, empty if that doesn't have it. born is
// false if there is no commit.
func (c Client) ReadFileOfHead(ctx context.Context, dir, path string) (content []byte, born bool, err error) {
	found, err := c.readObjects(ctx, dir, "\n", "HEAD^{commit}", "HEAD:"+path)
	if err != nil {
		return nil, false, err
	}
	if found[1].kind == "blob" {
		content = found[1].content
	}
	return content, found[0].id != "", nil
}

// ReadFileAt reads a file as it is in the commit that ref names now, and says which commit that is: "" if
// there is none, or if ref has moved meanwhile. ok is false if the commit doesn't have the file. Where git is
// older than [MinVersion], it fails.
func (c Client) ReadFileAt(
	ctx context.Context, dir, ref, path string,
) (commit string, content []byte, ok bool, err error) {
	// The ref is read before and after the file, in one run of git: it may move in between.
	found, err := c.readObjects(ctx, dir, "\x00", ref+"^{commit}", ref+":"+path, ref+"^{commit}")
	if err != nil || found[0].id != found[2].id {
		return "", nil, false, err
	}

	if found[1].kind != "blob" {
		return found[0].id, nil, false, nil
	}

	return found[0].id, found[1].content, true, nil
}

// object is an object of git; a missing one is empty.
type object struct {
	id, kind string
	content  []byte
}

// readObjects reads the objects that have these names, one after the other. end ends each name: a line break,
// or a NUL, which git takes since 2.38.
func (c Client) readObjects(ctx context.Context, dir, end string, names ...string) (found []object, err error) {
	var out bytes.Buffer
	ask := []string{"cat-file", "--batch"}
	if end == "\x00" {
		ask = append(ask, "-z")
	}

	q := writeCall{dir: dir, in: strings.NewReader(strings.Join(names, end) + end), out: &out}
	if err := c.runWrite(ctx, q, ask...); err != nil {
		return nil, err
	}

	// Of an object git prints its id, kind and size, a line break, and its content.
	for range names {
		header, err := out.ReadString('\n')
		f := strings.Fields(header)
		size := 0
		if err == nil && len(f) == 3 {
			size, err = strconv.Atoi(f[2])
		}

		switch {
		case err != nil, len(f) == 3 && size >= out.Len():
			// A line break follows the content.
			return nil, fmt.Errorf("git cat-file printed %q", header)
		case len(f) == 3:
			found = append(found, object{f[0], f[1], bytes.Clone(out.Next(size + 1)[:size])})
		default:
			// Git prints "<name> missing", for one.
			found = append(found, object{})
		}
	}

	return found, nil
}

// Files returns those of the paths that are files in a commit.
func (c Client) Files(ctx context.Context, dir, commit string, paths []string) (files []string, err error) {
	ask := append([]string{"--literal-pathspecs", "ls-tree", "-z", commit, "--"}, paths...)
	listed, err := c.runList(ctx, dir, ask...)
	for _, entry := range listed {
		if mode, name, _ := strings.Cut(entry, "\t"); strings.Contains(mode, " blob ") {
			files = append(files, name)
		}
	}

	return files, err
}

// Blobs returns the names of the blobs that paths are in a commit; those that it hasn't are left out.
func (c Client) Blobs(ctx context.Context, dir, commit string, paths []string) (map[string]string, error) {
	ask := append([]string{"--literal-pathspecs", "ls-tree", "-z", "--full-tree", commit, "--"}, paths...)
	listed, err := c.runList(ctx, dir, ask...)
	blobs := map[string]string{}
	for _, entry := range listed {
		facts, name, _ := strings.Cut(entry, "\t")
		if f := strings.Fields(facts); len(f) == 3 && f[1] == "blob" {
			blobs[name] = f[2]
		}
	}

	return blobs, err
}
