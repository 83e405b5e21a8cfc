package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"talkingstick/internal/plainfile"
)

// maxDiffPaths is how many files one git is asked to compare: the system limits the length of a command line.
const maxDiffPaths = 500

// DiffUncommitted returns the diff of files that [Client.Uncommitted] has listed: tracked ones against HEAD,
// the others as new files. It has at most most bytes, in whole lines; cut reports whether there is more. Of
// binary files it only has the names. It runs no program but git, and writes nothing. It fails with
// [stick.CodeGitFailed], and with the error of ctx.
func (c Client) DiffUncommitted(
	ctx context.Context, top string, files []Uncommitted, most int,
) (text string, cut bool, err error) {
	var tracked, others []string
	for _, u := range files {
		if u.Index == '?' {
			others = append(others, u.Path)
		} else {
			tracked = append(tracked, u.Path)
		}
	}

	out := &prefixWriter{left: most}
	if len(tracked) > 0 {
		err = c.diffTracked(ctx, top, tracked, out)
	}
	if err == nil && len(others) > 0 {
		err = diffNew(ctx, top, others, out)
	}

	// What was cut may end in the middle of a line.
	text = out.String()
	if out.cut {
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}

	return text, out.cut, err
}

// diffTracked writes what has changed in files since HEAD. Without a commit that is all of them.
func (c Client) diffTracked(ctx context.Context, top string, paths []string, out *prefixWriter) error {
	g, err := c.Isolate(ctx, top)
	if err != nil {
		return err
	}

	// Before the first commit, the empty tree stands for HEAD.
	base := "HEAD"
	if _, err := g.Run(ctx, nil, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); exitedWith(err, 1) {
		var empty bytes.Buffer
		if _, err := g.Run(ctx, nil, &empty, "hash-object", "-t", "tree", "--stdin"); err != nil {
			return err
		}
		base = strings.TrimSpace(empty.String())
	} else if err != nil {
		return err
	}

	args := slices.Concat(
		[]string{"diff"}, diffOptions,
		[]string{"--no-renames", "--submodule=short", "--ignore-submodules=dirty", base, "--"},
	)
	for some := range slices.Chunk(paths, maxDiffPaths) {
		if out.cut {
			return nil
		}
		if _, err := g.Run(ctx, nil, out, slices.Concat(args, some)...); err != nil {
			return err
		}
	}

	return nil
}

// diffNew writes files that git doesn't track, in the format of a diff. Git itself would have to be started
// for each.
func diffNew(ctx context.Context, top string, paths []string, out *prefixWriter) error {
	// A link that leads out of the checkout isn't followed.
	root, err := os.OpenRoot(top)
	if err != nil {
		return err
	}
	defer root.Close()

	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if out.cut {
			return nil
		}
		if err := writeNewFile(root, path, out); err != nil {
			fmt.Fprintf(out, "%s can't be shown: %v\n", quotePath("", path), plainfile.CauseOf(err))
		}
	}

	return nil
}

// writeNewFile writes one of them.
func writeNewFile(root *os.Root, path string, out *prefixWriter) error {
	info, err := root.Lstat(path)
	if err != nil {
		return err
	}

	mode := "100644"
	var content []byte
	switch {
	case strings.HasSuffix(path, "/"):
		return fmt.Errorf("it is a repository of its own")
	case info.Mode()&fs.ModeSymlink != 0:
		mode = "120000"
		var to string
		to, err = root.Readlink(path)
		content = []byte(to)
	case !info.Mode().IsRegular():
		return fmt.Errorf("it isn't a file")
	case info.Size() > int64(out.left):
		// Not even its beginning is read: it may be as large as the disk.
		out.cut = true
		return nil
	default:
		if info.Mode()&0o100 != 0 {
			mode = "100755"
		}
		content, err = readFileIn(root, path)
	}
	if err != nil {
		return err
	}

	to := quotePath("b/", path)
	fmt.Fprintf(out, "diff --git %s %s\nnew file mode %s\n", quotePath("a/", path), to, mode)
	switch {
	case bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0:
		// Git, too, takes a file with a NUL among its first 8000 bytes for a binary one.
		fmt.Fprintf(out, "Binary files /dev/null and %s differ\n", to)
	case len(content) > 0:
		fmt.Fprintf(out, "--- /dev/null\n+++ %s\n", to)
		writeAddedLines(content, out)
	}

	return nil
}

func readFileIn(root *os.Root, path string) ([]byte, error) {
	f, err := root.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return io.ReadAll(f)
}

// writeAddedLines writes the hunk that adds all lines of a file.
func writeAddedLines(content []byte, out *prefixWriter) {
	n := bytes.Count(content, []byte("\n"))
	whole := content[len(content)-1] == '\n'
	if !whole {
		n++
	}

	// Git leaves out a count of 1.
	lines := fmt.Sprintf("1,%d", n)
	if n == 1 {
		lines = "1"
	}

	fmt.Fprintf(out, "@@ -0,0 +%s @@\n", lines)
	for line := range bytes.Lines(content) {
		fmt.Fprintf(out, "+%s", line)
	}

	if !whole {
		fmt.Fprint(out, "\n\\ No newline at end of file\n")
	}
}

// quotePath writes a path as git does in a diff.
func quotePath(side, path string) string {
	special := func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' }
	if !strings.ContainsFunc(path, special) {
		return side + path
	}

	var b strings.Builder
	b.WriteString(`"` + side)

	// Among the bytes of a character beyond ASCII none is special.
	for _, c := range []byte(path) {
		switch i := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); {
		case i >= 0:
			b.WriteString(`\` + `abtnvfr"\`[i:i+1])
		case special(rune(c)):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}

	return b.String() + `"`
}
