package stick

import (
	"strings"
)

// Workspace is the state of the working tree when a handoff was made. In a handoff it is null if it couldn't
// be read in time.
type Workspace struct {
	Head       string   `json:"head"`             // commit id; empty in a repository without commits
	Branch     string   `json:"branch,omitempty"` // empty when HEAD is detached
	Dirty      []string `json:"dirty"`            // changed and untracked paths, at most 200
	DirtyCount int      `json:"dirty_count"`      // all of them
	// no remote is known to have the commit; asked only where the room has several checkouts
	Unpushed bool `json:"unpushed,omitempty"`
}

// withValidText returns w with names that are valid UTF-8. A path may hold any bytes, but JSON can't: an event that
// held them would have another sum after it was stored and read again.
func (w *Workspace) withValidText() *Workspace {
	if w == nil {
		return nil
	}

	// The caller keeps its own: only what the log holds is changed.
	v := *w
	v.Head, v.Branch = strings.ToValidUTF8(w.Head, "\uFFFD"), strings.ToValidUTF8(w.Branch, "\uFFFD")
	v.Dirty = make([]string, len(w.Dirty))

	for i, path := range w.Dirty {
		v.Dirty[i] = strings.ToValidUTF8(path, "\uFFFD")
	}

	return &v
}
