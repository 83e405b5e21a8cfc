package stick

// Workspace is what the program saw of the working tree when a handoff was made. It is null in a
// handoff when it couldn't be seen in time.
type Workspace struct {
	Head       string   `json:"head"`             // commit id; empty in a repository without commits
	Branch     string   `json:"branch,omitempty"` // empty when HEAD is detached
	Dirty      []string `json:"dirty"`            // changed and untracked paths, at most 200
	DirtyCount int      `json:"dirty_count"`      // all of them
}
