package diff

import "slices"

// FileStat says how many lines of a file a task changes.
type FileStat struct {
	Path    string `json:"path"`           // relative to the workspace's root
	From    string `json:"from,omitempty"` // its path before the task renamed it
	Added   int    `json:"added"`          // lines; -1 for a file that isn't text
	Deleted int    `json:"deleted"`        // likewise
}

// Paths lists the paths of files that were counted, sorted. A renamed file is two of them.
func Paths(files []FileStat) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
		if f.From != "" {
			paths = append(paths, f.From)
		}
	}

	slices.Sort(paths)
	return paths
}
