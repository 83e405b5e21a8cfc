package git

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"talkingstick/stick"
)

// Ref is a branch as git knows it.
type Ref struct {
	Name      string // refs/heads/…
	Commit    string
	Committed stick.Time // when its newest commit was made
	Upstream  string     // refs/remotes/…, empty if it has none
	Checkout  string     // where it is checked out, empty if nowhere
}

// Refs lists the refs that match patterns: whole names, or their beginnings up to a slash.
func (c Client) Refs(ctx context.Context, dir string, patterns ...string) ([]Ref, error) {
	const format = "%(refname)%00%(objectname)%00%(committerdate:unix)%00%(upstream)%00%(worktreepath)"
	said, err := c.text(ctx, dir, append([]string{"for-each-ref", "--format=" + format, "--"}, patterns...)...)
	if err != nil || said == "" {
		return nil, err
	}
	var refs []Ref
	for _, line := range strings.Split(said, "\n") {
		f := strings.Split(line, "\x00")
		if len(f) != 5 {
			return nil, fmt.Errorf("git for-each-ref said %q", line)
		}
		seconds, _ := strconv.ParseInt(f[2], 10, 64)
		refs = append(refs, Ref{Name: f[0], Commit: f[1], Committed: stick.Time(seconds * 1000), Upstream: f[3], Checkout: f[4]})
	}
	return refs, nil
}

// Ref finds one ref by its whole name.
func (c Client) Ref(ctx context.Context, dir, name string) (Ref, bool, error) {
	refs, err := c.Refs(ctx, dir, name)
	if err != nil {
		return Ref{}, false, err
	}
	for _, r := range refs {
		if r.Name == name {
			return r, true, nil
		}
	}
	return Ref{}, false, nil
}

// Commit finds the commit that a name means.
func (c Client) Commit(ctx context.Context, dir, name string) (string, bool, error) {
	said, err := c.text(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if exitedWith(err, 1) || exitedWith(err, 128) {
		return "", false, nil
	}
	return said, err == nil, err
}

// UpdateRef moves a ref from one commit to another, if it is still there; old is empty for a ref that
// mustn't exist. moved is false when it was elsewhere.
func (c Client) UpdateRef(ctx context.Context, dir, ref, commit, old string) (moved bool, err error) {
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}
	ctx = context.WithoutCancel(ctx) // killed in the middle it would leave the branch's lock
	err = c.write(ctx, change{dir: dir}, "update-ref", "-m", "talking stick", "--", ref, commit, old)
	if err == nil {
		return true, nil
	}
	now, _, nerr := c.Commit(ctx, dir, ref)
	if nerr == nil && now != old && (now != "" || strings.Trim(old, "0") != "") {
		return now == commit, nil
	}
	return false, err
}

// DeleteRef deletes a ref that is still at a commit. One that is gone already is fine.
func (c Client) DeleteRef(ctx context.Context, dir, ref, old string) error {
	if _, ok, err := c.Commit(ctx, dir, ref); err != nil || !ok {
		return err
	}
	ctx = context.WithoutCancel(ctx) // as in UpdateRef
	return c.write(ctx, change{dir: dir}, "update-ref", "-d", "--", ref, old)
}

// IsAncestor tells whether commit a is contained in b.
func (c Client) IsAncestor(ctx context.Context, dir, a, b string) (bool, error) {
	err := c.write(ctx, change{dir: dir}, "merge-base", "--is-ancestor", a, b)
	if exitedWith(err, 1) {
		return false, nil
	}
	return err == nil, err
}

// Contained tells whether a commit that may not be here is one of others, or contained in one of them. Those of
// them that aren't here contain nothing.
func (c Client) Contained(ctx context.Context, dir, commit string, in ...string) (bool, error) {
	in = slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "" })
	if slices.Contains(in, commit) {
		return true, nil
	}
	if _, ok, err := c.Commit(ctx, dir, commit); err != nil || !ok {
		return false, err
	}
	said, err := c.text(ctx, dir, append([]string{"rev-list", "--ignore-missing", "--max-count=1", commit, "--not"}, in...)...)
	return said == "", err
}

// MergeBase is a best common ancestor of two commits; empty when they have none.
func (c Client) MergeBase(ctx context.Context, dir, a, b string) (string, error) {
	said, err := c.text(ctx, dir, "merge-base", a, b)
	if exitedWith(err, 1) {
		return "", nil
	}
	return said, err
}

// ReadFile reads a file as it is in a commit; ok is false when it isn't there.
func (c Client) ReadFile(ctx context.Context, dir, commit, path string) (content []byte, ok bool, err error) {
	var out bytes.Buffer
	err = c.write(ctx, change{dir: dir, in: strings.NewReader(commit + ":" + path + "\n"), out: &out}, "cat-file", "--batch")
	if err != nil {
		return nil, false, err
	}
	header, body, _ := strings.Cut(out.String(), "\n")
	f := strings.Fields(header)
	if len(f) != 3 || f[1] != "blob" {
		return nil, false, nil
	}
	size, err := strconv.Atoi(f[2])
	if err != nil || size > len(body) {
		return nil, false, fmt.Errorf("git cat-file said %q", header)
	}
	return []byte(body[:size]), true, nil
}

// MergeTree merges two commits without a checkout. tree is empty when they conflict, and files are
// then the paths in conflict.
func (c Client) MergeTree(ctx context.Context, dir, ours, theirs string) (tree string, files []string, err error) {
	var out bytes.Buffer
	err = c.write(ctx, change{dir: dir, out: &out}, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--", ours, theirs)
	parts := splitNUL(out.String())
	switch {
	case err == nil && len(parts) > 0:
		return parts[0], nil, nil
	case exitedWith(err, 1) && len(parts) > 0:
		return "", parts[1:], nil
	case err == nil:
		return "", nil, fmt.Errorf("git merge-tree said nothing")
	}
	return "", nil, err
}

// CommitTree makes a commit of a tree.
func (c Client) CommitTree(ctx context.Context, dir, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	var out bytes.Buffer
	err := c.write(ctx, change{dir: dir, in: strings.NewReader(message), out: &out}, append(args, "-F", "-")...)
	return strings.TrimSpace(out.String()), err
}

// diffOptions make what git tells of a difference independent of anybody's configuration.
var diffOptions = []string{"--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--src-prefix=a/", "--dst-prefix=b/", "-U3"}

// Changed lists the paths in which two commits differ.
func (c Client) Changed(ctx context.Context, dir, from, to string) ([]string, error) {
	return c.list(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", from, to)
}

// Diff is the difference of two commits as text, at most so many bytes of it.
func (c Client) Diff(ctx context.Context, dir, from, to string, most int) (text string, cut bool, err error) {
	out := &prefix{left: most}
	args := append(append([]string{"diff-tree", "-r", "-p"}, diffOptions...), from, to)
	err = c.write(ctx, change{dir: dir, out: out}, args...)
	return out.String(), out.cut, err
}

// Stat tells how much two commits differ.
func (c Client) Stat(ctx context.Context, dir, from, to string) ([]stick.FileStat, error) {
	lines, err := c.list(ctx, dir, "diff-tree", "-r", "--numstat", "-z", "--no-renames", from, to)
	if err != nil {
		return nil, err
	}
	stats := []stick.FileStat{}
	for _, l := range lines {
		f := strings.SplitN(l, "\t", 3)
		if len(f) != 3 {
			return nil, fmt.Errorf("git diff-tree said %q", l)
		}
		s := stick.FileStat{Path: f[2], Added: -1, Deleted: -1}
		if f[0] != "-" {
			s.Added, _ = strconv.Atoi(f[0])
			s.Deleted, _ = strconv.Atoi(f[1])
		}
		stats = append(stats, s)
	}
	return stats, nil
}

// Log tells the commits that are in one commit and not in another, the oldest first, each in a line.
func (c Client) Log(ctx context.Context, dir, from, to string, most int) ([]string, error) {
	return c.list(ctx, dir, "log", "-z", "--reverse", "--no-color", "--no-decorate", "--format=%h %s", fmt.Sprintf("--max-count=%d", most), from+".."+to, "--")
}

// PatchSum is a sum of what commit to changes since from: equal for the same changes to the same
// surroundings, wherever in the files and in the history they are made. Unlike git's own patch id
// it tells blanks apart.
func (c Client) PatchSum(ctx context.Context, dir, from, to string) (string, error) {
	r, w := io.Pipe()
	sum := make(chan string, 1)
	go func() { // ends when w is closed
		h := sha256.New()
		in := bufio.NewReader(r)
		body := false
		for {
			line, err := in.ReadString('\n')
			switch {
			case strings.HasPrefix(line, "diff --git "):
				body = false
			case strings.HasPrefix(line, "@@ "):
				line, body = "@@\n", true
			}
			if body || !strings.HasPrefix(line, "index ") {
				io.WriteString(h, line)
			}
			if err != nil {
				break
			}
		}
		sum <- hex.EncodeToString(h.Sum(nil))
	}()
	args := append(append([]string{"diff-tree", "-r", "-p", "--binary", "--full-index"}, diffOptions...), from, to)
	err := c.write(ctx, change{dir: dir, out: w}, args...)
	w.Close()
	return <-sum, err
}

// BranchName tells whether a name can be that of a branch.
func BranchName(name string) bool {
	bad := name == "" || strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") || strings.ContainsAny(name, " ~^:?*[\\\x7f") || name == "@" || len(name) > 200
	for _, part := range strings.Split(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	for _, r := range name {
		bad = bad || r < ' '
	}
	return !bad
}
