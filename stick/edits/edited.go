package edits

import (
	"slices"
	"strings"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/scope"
)

// FileState is what a hook or a look has seen of a file. Equal sums mean equal bytes. The other fields show
// that a file is untouched, without reading it.
type FileState struct {
	// SHA-256 of its raw bytes, or of a link's target, in hex; empty if there is no file
	Sum     string `json:"sum,omitempty"`
	Size    int64  `json:"size,omitempty"`
	ModTime int64  `json:"mod_time,omitempty"` // nanoseconds since 1970
	Inode   uint64 `json:"inode,omitempty"`
	Mode    uint32 `json:"mode,omitempty"`
}

// Editor is one who has edited a file since it was last committed.
type Editor struct {
	Agent stick.AgentID `json:"agent"` // empty for somebody whom no hook has noted
	// its sub-agent that edited last, as the harness names it; empty for the agent itself
	Helper string        `json:"helper,omitempty"`
	Turn   int64         `json:"turn,omitempty"`
	Held   bool          `json:"held,omitempty"`    // it held the stick, or worked under who did
	Claim  bool          `json:"claimed,omitempty"` // it has said itself that the file is its own
	Under  stick.AgentID `json:"under,omitempty"`   // the agent that had started it
	At     stick.Time    `json:"at"`
}

// EditedFile says who has edited an uncommitted file. It is evidence from hooks: what a hook didn't see is
// added as somebody's when it is found, and never replaces what is known.
type EditedFile struct {
	Path    string // relative to its checkout, / between the names
	Editors []Editor
	State   FileState  // after the last edit that was noted or found
	Asleep  stick.Time // when the file was found without changes; zero if it has some
}

// rememberFor is how long it is remembered who had edited a file that has no changes any more: the same bytes may
// come back, as after git stash pop.
const rememberFor = 24 * time.Hour

// Note adds an edit that a hook has seen, and what the file is like after it.
func (f EditedFile) Note(by Editor, after FileState) EditedFile {
	if !f.Asleep.IsZero() { // what was edited before is committed or gone
		f.Editors, f.Asleep = nil, 0
	}

	f.Editors = append(slices.DeleteFunc(slices.Clone(f.Editors),
		func(e Editor) bool { return e.Agent == by.Agent }), by)
	f.State = after

	return f
}

// Find compares a file that has changes with what was noted. If it has been changed since, it adds by as the
// one who did it, who is somebody if by has no name.
func (f EditedFile) Find(now FileState, by Editor) EditedFile {
	switch {
	case f.State.Sum == now.Sum:
		f.Asleep = 0
	case by.Agent != "":
		return f.Note(by, now)
	case !f.Asleep.IsZero():
		f.Editors, f.Asleep = []Editor{by}, 0
	default:
		f.Editors = append(slices.DeleteFunc(slices.Clone(f.Editors), func(e Editor) bool { return e.Agent == "" }), by)
	}

	f.State = now
	return f
}

// noteAgain records that an edit has given a file without changes the bytes that were noted before. They may
// have come back, as after git stash pop, or be written anew, so the file is also of those who made them first.
func (f EditedFile) noteAgain(by Editor, after FileState) EditedFile {
	f.Asleep = 0
	return f.Note(by, after)
}

// Rest records that a file has no changes.
func (f EditedFile) Rest(at stick.Time) EditedFile {
	if f.Asleep.IsZero() {
		f.Asleep = at
	}

	return f
}

// Forgotten reports whether nobody needs to know any more who edited a file.
func (f EditedFile) Forgotten(now stick.Time) bool {
	return !f.Asleep.IsZero() && (stick.Deadline{SetAt: f.Asleep, TTL: rememberFor}).Due(now)
}

// SeenFile is a file as a look at a checkout finds it.
type SeenFile struct {
	Path  string
	State FileState
	Clean bool // it has no changes. A look only tells it of files that are gone
	New   bool // changed since the caller's tool call began, as far as the file system tells
	Named bool // the caller's tool call says itself that it changes the file
}

// Look compares what was noted of a checkout's files with all that have changes, and returns both, by their
// paths: the latter awake, the others asleep. What has changed since it was noted, by did where the file is
// new, and somebody else where it isn't. A file that has taken another name keeps its editors.
func Look(known []EditedFile, found []SeenFile, by Editor) []EditedFile {
	rows := map[string]EditedFile{}

	for _, f := range known {
		rows[f.Path] = f
	}

	// A file that is gone may have been moved to another name.
	left := map[string]EditedFile{} // the files that are gone, by their sums
	for _, s := range found {
		if f, ok := rows[s.Path]; ok && s.State.Sum == "" && f.State.Sum != "" {
			left[f.State.Sum] = f
		}
	}

	var out []EditedFile
	for _, s := range found {
		if s.Clean {
			continue
		}

		f, ok := rows[s.Path]
		delete(rows, s.Path)

		// Only what is newer than the call can be the caller's doing.
		who := Editor{At: by.At}
		if s.New {
			who = by
		}

		// A moved file keeps its editors. A new one may lie in a directory that was folded to one row.
		if from, moved := left[s.State.Sum]; !ok && moved {
			f = from
			f.Path = s.Path
		} else if !ok {
			f = EditedFile{Path: s.Path, State: s.State, Editors: []Editor{who}}
			if dir := rows[folderOf(s.Path)]; dir.Asleep.IsZero() && len(dir.Editors) > 0 {
				f.Editors, f.State = dir.Editors, FileState{}
			}
		}

		isSameAgain := !f.Asleep.IsZero() && f.State.Sum == s.State.Sum
		if isEdit := s.Named && who.Agent != ""; isEdit && isSameAgain {
			out = append(out, f.noteAgain(who, s.State))
			continue
		}

		out = append(out, f.Find(s.State, who))
	}

	// What is left has no changes any more, and is remembered for a time.
	for _, f := range rows {
		out = append(out, f.Rest(by.At))
	}

	// A map has no order; the rows are stored by their paths.
	slices.SortFunc(out, func(a, b EditedFile) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// folderOf is what stands for all files in the directory of a path.
func folderOf(path string) string {
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i+1]
	}

	return "./"
}

// Fold bounds what is noted of a checkout. If that is more than most files, those without changes are left
// out. If it still is, one row stands for all files in a directory, edited by all of their editors. The path
// of such a row ends with a slash.
func Fold(files []EditedFile, most int) []EditedFile {
	if len(files) <= most {
		return files
	}

	// Files without changes are the first that can be left out.
	awake := slices.DeleteFunc(slices.Clone(files), func(f EditedFile) bool { return !f.Asleep.IsZero() })
	if len(awake) <= most {
		return awake
	}

	var out []EditedFile
	at := map[string]int{}
	for _, f := range awake {
		name := f.Path
		if !strings.HasSuffix(name, "/") {
			name = folderOf(name)
		}

		i, ok := at[name]
		if !ok {
			i, at[name] = len(out), len(out)
			out = append(out, EditedFile{Path: name})
		}

		for _, e := range f.Editors {
			if !slices.ContainsFunc(out[i].Editors, func(o Editor) bool { return o.Agent == e.Agent }) {
				out[i].Editors = append(out[i].Editors, e)
			}
		}
	}

	return out[:min(len(out), most)]
}

// FoldersOf returns the paths of the rows that may stand for files, each once.
func FoldersOf(paths []string) (folders []string) {
	for _, p := range paths {
		folders = append(folders, folderOf(p))
	}

	slices.Sort(folders)
	return slices.Compact(folders)
}

// Unfold returns what was noted of files: of one without a row, what was noted of all files in its directory, if
// a row stands for them.
// since is a time: a directory whose files had no changes any more before it says nothing of new ones.
func Unfold(known []EditedFile, paths []string, since stick.Time) (files []EditedFile) {
	rows := map[string]EditedFile{}
	for _, f := range known {
		isPast := strings.HasSuffix(f.Path, "/") && !f.Asleep.IsZero() && f.Asleep < since
		if !isPast {
			rows[f.Path] = f
		}
	}

	for _, p := range paths {
		f, ok := rows[p]
		if !ok {
			f, ok = rows[folderOf(p)]
			f.Path = p
		}
		if ok {
			files = append(files, f)
		}
	}
	return files
}

// Starter returns the member that has started one with this lineage, the first of them, and "" if none has.
func Starter(r stick.Room, above stick.Lineage) stick.AgentID {
	for _, m := range r.Members {
		if startedBy(r, m.Agent, above) {
			return m.Agent
		}
	}

	return ""
}

// Share says whose the changes of a file are, for one who asks.
type Share string

// The shares.
const (
	ShareOwn    Share = "own"    // the asker has edited it, and nobody else whose work would be lost
	SharePassed Share = "passed" // somebody edited it while holding the stick, or is gone, and no other agent holds the stick now
	ShareOthers Share = "others" // an agent that is there has edited it without the stick, or holds the stick with which it has passed on
	ShareNobody Share = "nobody" // no hook has noted who
)

// WhoseEdit says whose the changes of a file are if an agent asks, and names the others. Work done with the
// stick passes with it: where q.Tree says that the file is in the tree that the members share, it is the
// holder's, for all others. In any other checkout only what the holder did itself is. Work is another's if a
// live agent did it without the stick or has reserved the path, or if somebody has said that it is theirs. The
// agent that has started the asker, and those that the asker has started, aren't others. near must hold at least
// the reservations that could match the path.
func WhoseEdit(
	r stick.Room, f EditedFile, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time,
) (Share, []stick.AgentID) {
	share, holder := ShareNobody, otherHolder(r, q, s)

	var others []stick.AgentID
	for _, e := range f.Editors {
		switch {
		// No hook has noted who: that is nobody.
		case e.Agent == "":
		// What the caller, its helpers or its starter did is its own, unless somebody else's is in it.
		case e.Agent == q.By || e.Under == q.By || startedBy(r, e.Agent, q.Above):
			if share != ShareOthers {
				share = ShareOwn
			}

		// The work of others that the caller may not lose: claimed, the holder's, made without the stick, or reserved.
		case e.Claim, e.Agent == holder, !e.Held && !r.IsGone(e.Agent, s),
			hasReserved(r, e.Agent, f.Path, q.Fold, near, s, now):
			share, others = ShareOthers, append(others, e.Agent)

		// What was made with the stick, or by one that is gone, has passed on.
		case share == ShareNobody:
			share = SharePassed
		}
	}

	// What has passed belongs to the holder, if that is another. A worktree doesn't pass to it.
	if share == SharePassed && q.Tree && holder != "" {
		return ShareOthers, []stick.AgentID{holder}
	}

	return share, others
}

// otherHolder returns the agent that holds the stick and is there, and "" if that is the caller, or the one
// that has started it.
func otherHolder(r stick.Room, q Editing, s *stick.Probed) stick.AgentID {
	owner := r.Turn.Owner
	if r.Turn.State != stick.Owned || owner == q.By || r.IsGone(owner, s) || startedBy(r, owner, q.Above) {
		return ""
	}

	return owner
}

// startedBy reports whether an agent has started the caller, which has this lineage.
func startedBy(r stick.Room, a stick.AgentID, above stick.Lineage) bool {
	m, ok := r.Member(a)

	return ok && stick.Actor{Above: above}.Below(stick.Actor{Names: []stick.AgentID{a}, Processes: m.Processes})
}

// hasReserved reports whether an agent has a reservation of a path that isn't stale.
func hasReserved(
	r stick.Room, a stick.AgentID, path string, fold bool, near []stick.Reservation, s *stick.Probed, now stick.Time,
) bool {
	return slices.ContainsFunc(near, func(v stick.Reservation) bool {
		return v.Agent == a && v.Pattern.Match(path, fold) && !scope.Stale(r, v, s, now)
	})
}
