package rescue

import (
	"slices"
	"strings"

	"talkingstick/internal/rescue/manifest"
)

// listIgnored lists the ignored files that may be kept: those in directories that hold many are left out. A
// rescue has those at paths that are named, or all. A snapshot has all but those in ignored directories, and
// of these what is named.
func (t *rescueTaker) listIgnored(named []string) []string {
	if !t.r.Ignored {
		return nil
	}

	byFolder := map[string][]string{}
	for _, path := range t.seen.ignored {
		folder := path[:strings.LastIndexByte(path, '/')+1]
		dir, isDir := strings.CutSuffix(path, "/")

		switch isNamed := isWithin(dir, named) && (len(named) > 0 || t.snapshot == nil); {
		case !isNamed && isDir: // git names the directory, though only some paths below it are asked for
			for _, p := range named {
				if strings.HasPrefix(p, path) {
					byFolder[folder] = append(byFolder[folder], t.listIgnoredAt(dir, p)...)
				}
			}
		case !isNamed && t.snapshot == nil:
		case isDir:
			byFolder[folder] = append(byFolder[folder], t.listIgnoredBelow(dir)...)
		default:
			byFolder[folder] = append(byFolder[folder], path)
		}
	}

	var all []string
	for folder, files := range byFolder {
		// So many are rarely anybody's work: caches, or what a build has made.
		if len(files) > t.store.Limits.IgnoredFiles {
			if folder == "" {
				folder = "./"
			}
			t.leaveOut(folder, manifest.WhyMany, 0)
			continue
		}
		all = append(all, files...)
	}

	slices.Sort(all)
	return all
}

// listIgnoredAt lists the files at a path below an ignored directory. If that lies in a repository below the
// directory, it notes the repository instead.
func (t *rescueTaker) listIgnoredAt(dir, path string) []string {
	for at := dir; ; {
		// A repository on the way is rescued as such.
		if _, err := t.tree.Lstat(at + "/.git"); err == nil {
			if !slices.Contains(t.seen.untracked, at+"/") {
				t.seen.untracked = append(t.seen.untracked, at+"/")
			}
			return nil
		}

		name, _, below := strings.Cut(path[len(at)+1:], "/")
		if at += "/" + name; !below {
			break
		}
	}

	if info, err := t.tree.Lstat(path); err == nil && info.IsDir() {
		return t.listIgnoredBelow(path)
	}

	// Whether it is there shows when it is measured.
	return []string{path}
}

// listIgnoredBelow lists the files below an ignored directory, and stops when there are too many.
// Repositories among them are noted as such.
func (t *rescueTaker) listIgnoredBelow(dir string) (files []string) {
	pending := []string{dir}
	for len(pending) > 0 && len(files) <= t.store.Limits.IgnoredFiles {
		dir := pending[len(pending)-1]
		pending = pending[:len(pending)-1]

		names, err := t.tree.ListFolder(dir, t.store.Limits.IgnoredFiles+1)
		if err != nil {
			t.leaveOut(dir+"/", manifest.WhyUnreadable, 0)
			continue
		}

		// A repository is rescued as such, too.
		if slices.Contains(names, ".git") || slices.Contains(names, ".git/") {
			t.seen.untracked = append(t.seen.untracked, dir+"/")
			continue
		}

		for _, name := range names {
			if path := dir + "/" + name; strings.HasSuffix(name, "/") {
				pending = append(pending, strings.TrimSuffix(path, "/"))
			} else {
				files = append(files, path)
			}
		}
	}
	return files
}
