package diff

// FileStat says how many lines of a file a task changes.
type FileStat struct {
	Path    string `json:"path"`           // relative to the workspace's root
	From    string `json:"from,omitempty"` // its path before the task renamed it
	Added   int    `json:"added"`          // lines; -1 for a file that isn't text
	Deleted int    `json:"deleted"`        // likewise
}
