package git

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"talkingstick/internal/plainfile"
)

// noFilters returns variables that turn off the filters which the configuration of the repository itself
// sets: reading a tree starts no program that it names. Those of the user stay, as Git LFS's own, for
// without them each of its files would differ.
func (c Client) noFilters(ctx context.Context, dir string) (env []string) {
	if !c.InHook && hasNoLocalFilters(dir) {
		return nil
	}

	var out bytes.Buffer
	list := []string{"config", "--null", "--show-scope", "--name-only", "--get-regexp", `^filter\.`}
	if c.runReadOnly(ctx, dir, &out, list...) != nil {
		// There are none, or git says more about dir when it is asked for something else.
		return nil
	}

	var off []string // names of filters
	said := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")

	// Git prints pairs of a scope and a key, such as filter.lfs.clean.
	for i := 0; i+1 < len(said); i += 2 {
		scope, name := said[i], said[i+1]
		end := strings.LastIndexByte(name, '.')
		if (scope == "local" || scope == "worktree") && end > len("filter") && !slices.Contains(off, name[:end]) {
			off = append(off, name[:end])
		}
	}

	return filtersOff(off)
}

// hasNoLocalFilters reports whether the repository whose checkout has the top level top surely sets no filter
// itself: the files of its own configuration have neither a section of that name nor one that includes another
// file. It reports false whenever it isn't sure that git takes these files, and then git has to be asked.
func hasNoLocalFilters(top string) bool {
	own, common, ok := findGitDirs(top)
	if !ok {
		return false
	}

	// A worktree may have a file of its own.
	for _, path := range []string{filepath.Join(common, "config"), filepath.Join(own, "config.worktree")} {
		text, err := plainfile.Read(path)
		if os.IsNotExist(err) {
			continue
		}

		if err != nil || mayHaveFilter(bytes.ToLower(text)) {
			return false
		}
	}

	return true
}

// mayHaveFilter reports whether a configuration, in small letters, may have a section for a filter or for another
// file. Git ignores the case of sections, and nothing in one's name can be written otherwise.
func mayHaveFilter(text []byte) bool {
	return bytes.Contains(text, []byte("filter")) || bytes.Contains(text, []byte("include"))
}

// findGitDirs finds the git directory of a checkout by its top level, and the one that all checkouts share. ok is
// false where git itself would look further: from a directory without .git, or where what is there isn't whole.
func findGitDirs(top string) (own, common string, ok bool) {
	own = filepath.Join(top, ".git")
	if filepath.Clean(top) != top {
		return "", "", false
	}

	if !isDirectory(own) {
		if own, ok = readGitPath(own, "gitdir: ", top); !ok {
			return "", "", false
		}
	}

	common = own
	if file := filepath.Join(own, "commondir"); fileExists(file) {
		if common, ok = readGitPath(file, "", own); !ok {
			return "", "", false
		}
	}

	isWhole := isDirectory(filepath.Join(common, "objects")) && isDirectory(filepath.Join(common, "refs"))
	return own, common, isWhole && hasValidHead(own)
}

// hasValidHead reports whether HEAD of a git directory is as git writes it. Without one, git goes on to the
// directories above.
func hasValidHead(gitDir string) bool {
	text, err := plainfile.Read(filepath.Join(gitDir, "HEAD"))
	head := strings.TrimSuffix(string(text), "\n")
	if err != nil || strings.HasPrefix(head, "ref: refs/") {
		return err == nil
	}

	// A commit by its name, in one of git's two formats.
	isHex := strings.Trim(head, "0123456789abcdef") == ""
	return isHex && slices.Contains([]int{40, 64}, len(head))
}

// readGitPath reads the path in a file of git's, which may be relative to dir.
func readGitPath(file, prefix, dir string) (path string, ok bool) {
	text, err := plainfile.Read(file)
	path, ok = strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if err != nil || !ok {
		return "", false
	}

	// Nothing is cleaned before links are followed: what .. means depends on them.
	if !filepath.IsAbs(path) {
		path = dir + string(filepath.Separator) + path
	}

	path, err = filepath.EvalSymlinks(path)
	return path, err == nil
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return !os.IsNotExist(err)
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
