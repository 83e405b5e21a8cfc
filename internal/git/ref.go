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
	"talkingstick/stick/diff"
)

// Ref is a ref as git knows it.
type Ref struct {
	Name     string // refs/heads/…
	Commit   string
	Upstream string // refs/remotes/…; empty if it has none
}

// Branch is a ref with what git has to look up for it: its commit, and the records of all worktrees.
type Branch struct {
	Ref
	Committed stick.Time // the time of its newest commit
	Checkout  string     // where it is checked out; empty if nowhere
}

// RefsOf returns what all of these branches have as refs.
func RefsOf(branches []Branch) (refs []Ref) {
	for _, b := range branches {
		refs = append(refs, b.Ref)
	}
	return refs
}

// Refs lists the refs that match patterns: full names, or prefixes up to a slash.
func (c Client) Refs(ctx context.Context, dir string, patterns ...string) (refs []Ref, err error) {
	lines, err := c.forEachRef(ctx, dir, patterns)
	for _, f := range lines {
		refs = append(refs, f.asRef())
	}
	return refs, err
}

// Branches is [Client.Refs] with what takes git longer: twice as long where there are a hundred worktrees.
func (c Client) Branches(ctx context.Context, dir string, patterns ...string) (branches []Branch, err error) {
	lines, err := c.forEachRef(ctx, dir, patterns, "committerdate:unix", "worktreepath")
	for _, f := range lines {
		seconds, _ := strconv.ParseInt(f[3], 10, 64)
		branches = append(branches, Branch{Ref: f.asRef(), Committed: stick.Time(seconds * 1000), Checkout: f[4]})
	}

	return branches, err
}

// refLine is what git prints about a ref: what [Ref] has, and what else was asked.
type refLine []string

func (f refLine) asRef() Ref { return Ref{Name: f[0], Commit: f[1], Upstream: f[2]} }

// readsAgain is how often git lists refs again that failed because a worktree is half made: git writes the
// files of its record one after another, and reads those of all worktrees.
const readsAgain = 20

// forEachRef lists the refs that match patterns, each with more fields of git's.
func (c Client) forEachRef(
	ctx context.Context, dir string, patterns []string, more ...string,
) (lines []refLine, err error) {
	fields := append([]string{"refname", "objectname", "upstream"}, more...)
	ask := append([]string{"for-each-ref", "--format=%(" + strings.Join(fields, ")%00%(") + ")", "--"}, patterns...)

	said, err := c.runText(ctx, dir, ask...)
	// Another command may just be making a worktree.
	isHalfMade := func(err error) bool { return err != nil && strings.Contains(err.Error(), "/commondir") }
	for again := 0; isHalfMade(err) && again < readsAgain; again++ {
		said, err = c.runText(ctx, dir, ask...)
	}
	if err != nil || said == "" {
		return nil, err
	}

	for _, line := range strings.Split(said, "\n") {
		f := strings.Split(line, "\x00")
		if len(f) != len(fields) {
			return nil, fmt.Errorf("git for-each-ref printed %q", line)
		}
		lines = append(lines, f)
	}

	return lines, nil
}

// Tips returns the commits that only a ref may name: the one that it names, or all of the stash, whose name
// is refs/stash. A ref that doesn't exist has none.
func (c Client) TipsOfRef(ctx context.Context, dir, ref string) ([]string, error) {
	args := []string{"rev-parse", "--verify", "--quiet", ref + "^{commit}"}

	// The entries of the stash are in its reflog alone, except for the newest.
	if ref == "refs/stash" {
		args = []string{"log", "--walk-reflogs", "--format=%H", "--max-count=20", ref, "--"}
		if there, err := c.RefValues(ctx, dir, ref); err != nil || there[ref] == "" {
			return nil, err
		}
	}

	var out bytes.Buffer
	if _, err := c.IsolateObjects(dir).Run(ctx, nil, &out, args...); err != nil && !exitedWith(err, 1) {
		return nil, err
	}

	return strings.Fields(out.String()), nil
}

// Commit resolves a name to a commit. It reports false if git says that there is none; that git
// can't read the repository is a failure.
func (c Client) Commit(ctx context.Context, dir, name string) (string, bool, error) {
	said, err := c.runText(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if exitedWith(err, 1) {
		return "", false, nil
	}
	return said, err == nil, err
}

// UpdateRef moves a ref from commit old to another, if the ref is still at old. An empty old means that
// the ref must not exist. moved is false when the ref was elsewhere.
func (c Client) UpdateRef(ctx context.Context, dir, ref, commit, old string) (moved bool, err error) {
	if old == "" {
		old = strings.Repeat("0", len(commit))
	}

	// Killing git in the middle would leave the branch's lock.
	ctx = context.WithoutCancel(ctx)
	err = c.runWrite(ctx, writeCall{dir: dir}, "update-ref", "-m", "talking stick", "--", ref, commit, old)
	if err == nil {
		return true, nil
	}

	// Git fails as well if somebody else has moved the ref, perhaps to where it should go.
	now, _, nerr := c.Commit(ctx, dir, ref)
	if nerr == nil && now != old && (now != "" || strings.Trim(old, "0") != "") {
		return now == commit, nil
	}

	return false, err
}

// DeleteRef deletes a ref if it is still at commit old. It does nothing if the ref doesn't exist.
func (c Client) DeleteRef(ctx context.Context, dir, ref, old string) error {
	if err := ctx.Err(); err != nil {
		return err
	}

	ctx = context.WithoutCancel(ctx) // as in UpdateRef
	err := c.runWrite(ctx, writeCall{dir: dir}, "update-ref", "-d", "--", ref, old)
	if err == nil {
		return nil
	}

	// Git fails as well where there is nothing to delete.
	if _, ok, cerr := c.Commit(ctx, dir, ref); cerr == nil && !ok {
		return nil
	}
	return err
}

// IsAncestor reports whether b contains commit a.
func (c Client) IsAncestor(ctx context.Context, dir, a, b string) (bool, error) {
	if a == b {
		return true, nil
	}

	err := c.runWrite(ctx, writeCall{dir: dir}, "merge-base", "--is-ancestor", a, b)
	if exitedWith(err, 1) {
		return false, nil
	}

	return err == nil, err
}

// IsContained reports whether one of other commits is or contains a commit. Any of them may be missing
// from the repository; a missing one contains nothing.
func (c Client) IsContained(ctx context.Context, dir, commit string, in ...string) (bool, error) {
	// Most questions need no git: the commit itself is among the others.
	in = slices.DeleteFunc(slices.Clone(in), func(s string) bool { return s == "" })
	if slices.Contains(in, commit) {
		return true, nil
	}
	if _, ok, err := c.Commit(ctx, dir, commit); err != nil || !ok {
		return false, err
	}

	list := append([]string{"rev-list", "--ignore-missing", "--max-count=1", commit, "--not"}, in...)
	said, err := c.runText(ctx, dir, list...)
	return said == "", err
}

// MergeBase returns a best common ancestor of two commits, and "" if they have none.
func (c Client) MergeBase(ctx context.Context, dir, a, b string) (string, error) {
	if a == b {
		return a, nil
	}

	said, err := c.runText(ctx, dir, "merge-base", a, b)
	if exitedWith(err, 1) {
		return "", nil
	}

	return said, err
}

// MergeTree merges two commits without a checkout. If they conflict, tree is empty and files are the
// paths in conflict.
func (c Client) MergeTree(ctx context.Context, dir, ours, theirs string) (tree string, files []string, err error) {
	var out bytes.Buffer
	err = c.runWrite(ctx, writeCall{dir: dir, out: &out},
		"merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", "--", ours, theirs)
	parts := splitNUL(out.String())

	// Status 1 says that they conflict. Git prints a tree all the same, with marks in its files.
	switch {
	case err == nil && len(parts) > 0:
		return parts[0], nil, nil
	case exitedWith(err, 1) && len(parts) > 0:
		return "", parts[1:], nil
	case err == nil:
		return "", nil, fmt.Errorf("git merge-tree printed nothing")
	}

	return "", nil, err
}

// CommitTree makes a commit of a tree. It is signed as s says, and fails with [stick.CodeGitFailed] if it
// can't be.
func (c Client) CommitTree(
	ctx context.Context, dir string, s Signing, tree, message string, parents ...string,
) (string, error) {
	sign := "--no-gpg-sign"
	if s.Program != "" {
		sign = "--gpg-sign"
	}

	// The options say so either way, because the user's configuration may say something else.
	args := []string{"commit-tree", sign, tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}

	var out bytes.Buffer
	q := writeCall{dir: dir, in: strings.NewReader(message), out: &out, limit: s.Limit, waited: stick.Wordsf("%s", s.Program)}
	err := c.runWrite(ctx, q, append(args, "-F", "-")...)
	if err != nil && s.Program != "" {
		err = errUnsigned(err, dir, s)
	}

	return strings.TrimSpace(out.String()), err
}

// diffOptions make a diff independent of the user's configuration, but for renames.
var diffOptions = []string{"--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "-U3"}

// Changed lists the paths in which two commits differ.
func (c Client) Changed(ctx context.Context, dir, from, to string) ([]string, error) {
	if from == to {
		return nil, nil
	}
	return c.runList(ctx, dir, "diff-tree", "-r", "--name-only", "-z", "--no-renames", from, to)
}

// Diff returns the diff of two commits as people read it, with renames and names as they are, at most most
// bytes of it. cut reports whether there is more.
func (c Client) Diff(ctx context.Context, dir, from, to string, most int) (text string, cut bool, err error) {
	if from == to {
		return "", false, nil
	}

	out := &prefixWriter{left: most}
	args := slices.Concat(
		[]string{"-c", "core.quotePath=false", "diff-tree", "-r", "-p", "-M", "-l1000"}, diffOptions, []string{from, to},
	)
	err = c.runWrite(ctx, writeCall{dir: dir, out: out}, args...)
	return out.String(), out.cut, err
}

// Stat counts the changed lines between two commits, by file. It finds renames.
func (c Client) Stat(ctx context.Context, dir, from, to string) ([]diff.FileStat, error) {
	if from == to {
		return []diff.FileStat{}, nil
	}

	lines, err := c.runList(ctx, dir, "diff-tree", "-r", "--numstat", "-z", "-M", "-l1000", from, to)
	if err != nil {
		return nil, err
	}

	stats := []diff.FileStat{}
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		f := strings.SplitN(l, "\t", 3)
		if len(f) != 3 || f[2] == "" && i+2 >= len(lines) {
			return nil, fmt.Errorf("git diff-tree printed %q", l)
		}

		s := diff.FileStat{Path: f[2], Added: -1, Deleted: -1}
		// It is a rename: the old and the new name follow.
		if f[2] == "" {
			s.From, s.Path = lines[i+1], lines[i+2]
			i += 2
		}

		// Git shows a minus instead of the numbers of a binary file.
		if f[0] != "-" {
			s.Added, _ = strconv.Atoi(f[0])
			s.Deleted, _ = strconv.Atoi(f[1])
		}

		stats = append(stats, s)
	}

	return stats, nil
}

// Log lists the commits that are in to but not in from, one line each, oldest first.
func (c Client) Log(ctx context.Context, dir, from, to string, most int) ([]string, error) {
	if from == to {
		return nil, nil
	}
	return c.runList(ctx, dir, "log", "-z", "--reverse", "--no-color", "--no-decorate", "--format=%h %s",
		fmt.Sprintf("--max-count=%d", most), from+".."+to, "--")
}

// PatchSum returns a checksum of the changes between two commits. The same changes to the same
// surrounding lines have the same sum, wherever they are in the files and in the history. Unlike git's
// patch id, it tells blanks apart.
func (c Client) PatchSum(ctx context.Context, dir, from, to string) (string, error) {
	r, w := io.Pipe()

	sum := make(chan string, 1)
	// The goroutine ends when w is closed.
	go func() {
		h := sha256.New()
		in := bufio.NewReader(r)
		body := false
		for {
			line, err := in.ReadString('\n')

			// The lines of a hunk count, its place in the file and the ids of blobs don't.
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

	args := slices.Concat(
		[]string{"diff-tree", "-r", "-p", "--binary", "--full-index", "--no-renames"}, diffOptions, []string{from, to},
	)
	err := c.runWrite(ctx, writeCall{dir: dir, out: w}, args...)
	w.Close()
	return <-sum, err
}

// BranchName reports whether a branch can have this name.
func BranchName(name string) bool {
	bad := name == "" || name == "@" || len(name) > 200 ||
		strings.HasPrefix(name, "-") || strings.HasPrefix(name, "/") ||
		strings.HasSuffix(name, "/") || strings.HasSuffix(name, ".") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") ||
		strings.ContainsAny(name, " ~^:?*[\\\x7f")
	for _, part := range strings.Split(name, "/") {
		bad = bad || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}

	for _, r := range name {
		bad = bad || r < ' '
	}

	return !bad
}
