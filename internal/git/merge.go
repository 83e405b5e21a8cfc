package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

// conflictKinds maps each file in conflict to the kind of its conflict in git's words, such as contents,
// binary or modify/delete.
type conflictKinds map[string]string

// mergeCommits tries to merge two commits in the scratch.
func (s *scratch) mergeCommits(ctx context.Context, dir, a, b string) (conflictKinds, error) {
	out, err := s.runGit(ctx, dir, nil, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--messages", a, b)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return parseMerge(out, a, b)
	}
	return nil, err
}

// parseMerge parses what git merge-tree -z prints about a merge with conflicts: the tree, the files, an
// empty name, and messages. A message is a number of paths, the paths, its kind and its text.
func parseMerge(out string, a, b string) (conflictKinds, error) {
	fields := strings.Split(out, "\x00")
	next := func() (f string) {
		if len(fields) > 0 {
			f, fields = fields[0], fields[1:]
		}
		return f
	}

	// The merged tree isn't needed.
	next()
	c := conflictKinds{}
	for f := next(); f != ""; f = next() {
		c[originalName(f, a, b)] = ""
	}

	for f := next(); f != ""; f = next() {
		n, err := strconv.Atoi(f)
		if err != nil || n < 0 || n+2 > len(fields) {
			return nil, fmt.Errorf("read git merge-tree: %.100q isn't the beginning of a message", f)
		}

		paths, kind := fields[:n], fields[n]
		fields = fields[n+2:]
		kind, isConflict := strings.CutPrefix(kind, "CONFLICT (")
		if !isConflict {
			continue
		}

		kind = strings.TrimSuffix(kind, ")")
		for _, p := range paths {
			p = originalName(p, a, b)
			// The other kinds say more than contents.
			if said, ok := c[p]; ok && (said == "" || said == "contents") {
				c[p] = kind
			}
		}
	}

	return c, nil
}

// originalName returns a file's real name. Git calls a file name~commit where something else takes its
// name.
func originalName(path, a, b string) string {
	for _, id := range []string{a, b} {
		if i := strings.LastIndex(path, "~"+id); i > 0 {
			return path[:i]
		}
	}

	return path
}

// mergeBase returns a common ancestor of two commits, and "" if there is none.
func (s *scratch) mergeBase(ctx context.Context, dir, a, b string) (string, error) {
	out, err := s.runGit(ctx, dir, nil, nil, "merge-base", a, b)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return "", nil
	}
	return strings.TrimSpace(out), err
}

// changedFiles maps each file in which commit to differs from commit from to its mode and blob in to.
func (s *scratch) changedFiles(ctx context.Context, dir, from, to string) (map[string]string, error) {
	out, err := s.runGit(ctx, dir, nil, nil, "diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", from, to)
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

// parseRaw parses git diff-tree -z --raw: ":mode mode blob blob status", NUL, path, NUL.
// Of a changed file: the mode and the blob that the second commit has.
func parseRaw(out string) (map[string]string, error) {
	files := map[string]string{}
	for out != "" {
		record, rest, ok := strings.Cut(out, "\x00")
		path, after, ok2 := strings.Cut(rest, "\x00")
		fields := strings.Fields(record)
		if !ok || !ok2 || len(fields) != 5 || path == "" {
			return nil, fmt.Errorf("read git diff-tree: %.100q isn't a record", record)
		}

		files[path] = fields[1] + " " + fields[3]
		out = after
	}

	return files, nil
}

// maxArgs limits the paths on one command line, in bytes: Windows takes 32 KiB.
const maxArgs = 20 << 10

// changedHunks returns the changed lines between two commits, by file.
func (s *scratch) changedHunks(ctx context.Context, dir, from, to string, paths []string) (map[string]fileDiff, error) {
	d := &diffParser{files: map[string]fileDiff{}}

	// As many paths go on one command line as fit, and at least one.
	for len(paths) > 0 {
		args := []string{
			"--literal-pathspecs", "diff-tree", "-r", "-p", "-U0", "--inter-hunk-context=0", "--no-renames",
			"--no-color",
			"--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", from, to, "--",
		}

		size := 0
		for len(paths) > 0 && (size == 0 || size+len(paths[0]) < maxArgs) {
			args, size, paths = append(args, paths[0]), size+len(paths[0]), paths[1:]
		}

		// The output of the run before may have ended without a line end.
		d.part = d.part[:0]
		before := append(quietFlags[:len(quietFlags):len(quietFlags)], "-c", "core.quotePath=true", args[0])
		err := s.git.runCall(ctx, readCall{dir: dir, before: before, args: args[1:], env: s.env, out: d})
		if err = cmp.Or(err, d.problem); err != nil {
			return nil, err
		}
	}

	return d.files, nil
}
