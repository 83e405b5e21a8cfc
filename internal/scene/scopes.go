package scene

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/scopes"
)

// Reserve reserves paths.
func (a *Actor) Reserve(paths ...string) Answer[scopes.ReservePathsResult] {
	return a.ReservePaths(scopes.ReservePathsParams{Paths: paths})
}

// Unreserve releases reservations.
func (a *Actor) Unreserve(paths ...string) Answer[scopes.ReleasePathsResult] {
	return a.ReleasePaths(scopes.ReleasePathsParams{Paths: paths})
}

// Editing is the answer to an actor that asks whether it may edit.
type Editing struct {
	Answer[guard.MayEditResult]
}

// Allowed expects that the actor may edit.
func (x Editing) Allowed() Editing {
	x.by.Helper()
	if x.Err != nil || !x.Res.Allowed || x.Res.Refusal() != nil {
		x.failStory("that it may edit")
	}
	return x
}

// Denied expects that the actor may not edit exactly these paths.
func (x Editing) Denied(paths ...string) Editing {
	x.by.Helper()
	if x.Err != nil || x.Res.Allowed || x.Res.Refusal() == nil || x.Res.Hint == "" || len(paths) != len(x.Res.Denied) {
		x.failStory("that it may not edit %v", paths)
	}

	for i, p := range paths {
		if x.Res.Denied[i] != filepath.ToSlash(p) {
			x.failStory("that it may not edit %v", paths)
		}
	}
	return x
}

// MayIEdit asks whether the actor may edit these paths.
func (a *Actor) MayIEdit(paths ...string) Editing {
	return Editing{a.MayEdit(guard.MayEditParams{Paths: paths})}
}

// Commits asks as git's hook does before a commit of these files, and records the answer.
func (a *Actor) Commits(files ...string) Editing {
	a.Helper()
	p := guard.CheckEditParams{HookParams: a.Hook(), Tracked: files}
	x := Editing{a.CheckCommit(p)}
	if err := a.Engine.Guard.EditChecked(a.Context(), p, x.Res); err != nil {
		a.failStory("the hook before the commit of %s: %v", a.Name, err)
	}
	return x
}

// Makes notes, as git's hook does, that the actor has made commits, and that others have landed.
func (a *Actor) Makes(made []string, landed ...string) {
	a.Helper()
	if err := a.Engine.Guard.NoteCommits(a.Context(), guard.NoteCommitsParams{HookParams: a.Hook(), Made: made, Landed: landed}); err != nil {
		a.failStory("the hook of git at a commit of %s: %v", a.Name, err)
	}
}

// Runs plays the hooks around a command of which nobody can tell what it changes. It does nothing if do is
// nil.
func (a *Actor) Runs(do func()) {
	a.Helper()
	p := guard.CheckEditParams{HookParams: a.Hook(), Unread: true, LookFor: time.Minute}
	p.Tool = "Bash"
	x := Editing{a.CheckEdit(p)}.Allowed()
	if err := a.Engine.Guard.EditChecked(a.Context(), p, x.Res); err != nil {
		a.failStory("the hook before the command of %s: %v", a.Name, err)
	}

	if do != nil {
		do()
	}

	a.CheckEdited(p)
	a.Works()
}

// Changes lists the uncommitted files as the actor sees them: each with whose it is and who has edited it, ?
// for somebody whom no hook has noted.
func (a *Actor) Changes() string {
	a.Helper()
	var all []string
	for _, c := range a.ListChanges(guard.ListChangesParams{}).OK().Changes {
		by := []string{}
		for _, e := range c.Editors {
			by = append(by, cmp.Or(string(e.Agent), "?"))
		}
		all = append(all, fmt.Sprintf("%s %s by %s", c.Path, c.Share, strings.Join(by, " ")))
	}
	return a.nameActors(strings.Join(all, "; "))
}

// Edits plays the hooks around a tool call that edits: one asks before it and records the answer, the other
// checks after it. during runs in between, and may be nil.
func (a *Actor) Edits(during func(), paths ...string) Editing {
	a.Helper()
	p := guard.CheckEditParams{HookParams: a.Hook(), Paths: paths}
	p.Tool = "Edit"
	x := Editing{a.CheckEdit(p)}

	if x.Err != nil {
		return x
	}

	if err := a.Engine.Guard.EditChecked(a.Context(), p, x.Res); err != nil {
		a.failStory("the hook before the edit of %s: %v", a.Name, err)
	}
	if !x.Res.Allowed {
		return x
	}

	if during != nil {
		during()
	}
	a.CheckEdited(p)
	return x
}

// CheckEdited is the operation of that name.
func (a *Actor) CheckEdited(p guard.CheckEditParams) guard.EditedResult {
	a.Helper()
	p.Caller, p.Where = a.By, a.fillWhere(p.Where)
	out, err := a.Engine.Guard.CheckEdited(a.Context(), p)
	if err != nil {
		a.failStory("the hook after the edit of %s: %v", a.Name, err)
	}
	return out
}

// KeepLease is the operation of that name. It returns when the guardian ends.
func (a *Actor) KeepLease(ctx context.Context, p engine.KeepLeaseParams) error {
	return a.Engine.KeepLease(ctx, p)
}
