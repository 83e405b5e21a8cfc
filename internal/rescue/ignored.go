package rescue

import (
	"slices"
	"strings"
)

// ignored lists the ignored files that may be kept: those in directories that hold many are left out.
func (t *taking) ignored() []string {
	if !t.r.Ignored {
		return nil
	}
	byFolder := map[string][]string{}
	for _, path := range t.seen.ignored {
		folder := path
		files := []string{path}
		if strings.HasSuffix(path, "/") {
			files = t.ignoredBelow(strings.TrimSuffix(path, "/"))
		} else {
			folder = path[:strings.LastIndexByte(path, '/')+1]
		}
		byFolder[folder] = append(byFolder[folder], files...)
	}
	var all []string
	for folder, files := range byFolder {
		if len(files) > t.store.Limits.IgnoredFiles {
			if folder == "" {
				folder = "./"
			}
			t.leave(folder, WhyMany, 0)
			continue
		}
		all = append(all, files...)
	}
	slices.Sort(all)
	return all
}

// ignoredBelow lists the files below an ignored directory, and stops when there are too many. Repositories among them are
// noted as such.
func (t *taking) ignoredBelow(dir string) (files []string) {
	pending := []string{dir}
	for len(pending) > 0 && len(files) <= t.store.Limits.IgnoredFiles {
		dir := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		names, err := t.tree.list(dir, t.store.Limits.IgnoredFiles+1)
		if err != nil {
			t.leave(dir+"/", WhyUnreadable, 0)
			continue
		}
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
