package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// commit is what is released.
type commit struct {
	hash    string // all of it
	date    time.Time
	version string // without v, as npm and Go take it
	dirty   bool   // the repository has changes that aren't committed
}

var semver = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// checkOut finds a commit, and writes its files into a new directory.
func checkOut(ctx context.Context, repo, rev, tree string) (c commit, err error) {
	git := func(args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("git %s: %s", args[0], bytes.TrimSpace(exit.Stderr))
		}
		return out, err
	}

	out, err := git("show", "--no-patch", "--format=%H %ct", rev+"^{commit}")
	if err != nil {
		return c, err
	}

	var seconds int64
	if _, err := fmt.Sscan(string(out), &c.hash, &seconds); err != nil {
		return c, fmt.Errorf("git show: %w", err)
	}

	c.date = time.Unix(seconds, 0).UTC()

	// The files are those of the commit, whatever lies in the working tree.
	if out, err = git("archive", "--format=tar", c.hash); err != nil {
		return c, err
	}
	if err := unpackTar(out, tree); err != nil {
		return c, err
	}

	tags, err := git("tag", "--points-at", c.hash)
	if err != nil {
		return c, err
	}

	changed, err := git("status", "--porcelain", "--untracked-files=no")

	// This fails in a bare repository, which has nothing that could have changed.
	c.dirty = err == nil && len(changed) > 0

	c.version, err = c.versionOf(tree, strings.Fields(string(tags)))
	return c, err
}

// versionOf returns the version that a commit is released as. With a tag like v1.2.3 that is 1.2.3, which the
// sources and the list of changes have to name as well. Without one it is a version before that of the
// sources, which says when and of what.
func (c commit) versionOf(tree string, tags []string) (string, error) {
	said, err := sourceVersion(filepath.Join(tree, "internal", "cli", "app", "version.go"))
	if err != nil {
		return "", err
	}

	if !semver.MatchString(said) {
		return "", fmt.Errorf("internal/cli/app/version.go: %q is no version like 1.2.3 or 1.2.3-rc.1", said)
	}

	var tagged []string
	for _, tag := range tags {
		if v, ok := strings.CutPrefix(tag, "v"); ok && semver.MatchString(v) {
			tagged = append(tagged, v)
		}
	}
	switch len(tagged) {
	// A version of the day comes before the one that the sources name.
	case 0:
		before := "-"
		if strings.Contains(said, "-") {
			before = "."
		}
		return said + before + c.date.Format("20060102150405") + ".g" + c.hash[:10], nil
	case 1:
	default:
		return "", fmt.Errorf("the commit has the tags of several versions: %s", strings.Join(tagged, ", "))
	}

	if tagged[0] != said {
		return "", fmt.Errorf("the tag is v%s, and internal/cli/app/version.go says %s", tagged[0], said)
	}

	changes, err := os.ReadFile(filepath.Join(tree, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}

	if !regexp.MustCompile(`(?m)^## ` + regexp.QuoteMeta(said) + `\b`).Match(changes) {
		return "", fmt.Errorf("CHANGELOG.md has no section for %s", said)
	}

	return said, nil
}

// sourceVersion reads the version from the declaration that the linker overrides.
func sourceVersion(path string) (string, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}

	found := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 && v.Names[0].Name == "version" {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				// The parser has checked the literal.
				found, _ = strconv.Unquote(lit.Value)
			}
		}
		return true
	})

	if found == "" {
		return "", fmt.Errorf("%s declares no version", path)
	}
	return found, nil
}

// unpackTar writes the files of a tar archive of git's into a new directory.
func unpackTar(archive []byte, dir string) error {
	in := tar.NewReader(bytes.NewReader(archive))
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("git archive: %w", err)
		}

		// A file of the archive may only lie below the directory.
		if !filepath.IsLocal(h.Name) && h.Typeflag != tar.TypeXGlobalHeader {
			return fmt.Errorf("git archive: %q lies outside of the tree", h.Name)
		}

		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(path, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, path)
		case tar.TypeReg:
			var b []byte
			if b, err = io.ReadAll(in); err == nil {
				if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
					err = os.WriteFile(path, b, os.FileMode(h.Mode).Perm())
				}
			}
		}

		if err != nil {
			return err
		}
	}
}
