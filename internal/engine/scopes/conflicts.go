package scopes

import (
	"context"
	"errors"
	"slices"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/git"
	"talkingstick/internal/store"
	"talkingstick/internal/workspace"
	"talkingstick/stick"
)

// conflictsLimit is how long git may compare. What git didn't compare by then is left out.
const conflictsLimit = 20 * time.Second

// GetConflictsParams asks where the working trees conflict.
type GetConflictsParams struct {
	Caller core.Caller `json:"-"`
	core.Where

	// Shows is told while git compares how many of the pairs are done; several goroutines may call it. It may be
	// nil.
	Shows func(done, pairs int) `json:"-"`
}

// GetConflictsResult lists where the working trees of the room's repository conflict.
type GetConflictsResult struct {
	RoomID    stick.RoomID   `json:"room_id"`
	AgentID   stick.AgentID  `json:"agent_id"`  // who asks
	Sides     []ConflictSide `json:"sides"`     // the working trees, the main one first
	Conflicts []Conflict     `json:"conflicts"` // pair by pair; in each, conflicts before files that merge
	LeftOut   []Uncompared   `json:"left_out"`  // what git didn't compare
}

// ConflictSide is a working tree: its commit, and its uncommitted changes.
type ConflictSide struct {
	Name   string        `json:"name"`               // unique: the branch, else the directory's name or path
	Path   string        `json:"path"`               // its top directory
	Branch string        `json:"branch"`             // empty for a detached HEAD
	Head   string        `json:"head"`               // the commit; empty if there is none yet
	Dirty  bool          `json:"dirty"`              // it has uncommitted changes
	Agent  stick.AgentID `json:"agent_id,omitempty"` // the agent to talk to about it, if known
}

// The kinds of a [Conflict].
const (
	KindConflict    = "conflict"
	KindBothChanged = "both_changed"
)

// Conflict is a file that two sides have changed since their merge base.
type Conflict struct {
	A      string          `json:"a"`                  // the name of a side
	B      string          `json:"b"`                  // the name of the other
	Path   string          `json:"path"`               // relative to the top directory, with /
	Kind   string          `json:"kind"`               // conflict: git can't merge it; both_changed: both changed it, and git can merge it
	Says   string          `json:"git_says,omitempty"` // the kind of conflict in git's words: contents, modify/delete, binary, …
	ALines []string        `json:"a_lines"`            // changed lines in a's version; for a conflict, only those that conflict
	BLines []string        `json:"b_lines"`            // the same in b's version
	Agents []stick.AgentID `json:"agents"`             // the agents to talk to, as far as known
}

// Uncompared is something that git didn't compare.
type Uncompared struct {
	What stick.Words `json:"what"` // a side, or a pair of them
	Why  stick.Words `json:"why"`  // the reason
}

// GetConflicts finds out where the working trees of a room's repository conflict. git tries the merge of each
// pair, with the uncommitted changes, unless both sides are as they were when it did so last. It writes nothing,
// neither in the room nor in the repository. It fails
// with [stick.CodeNoRoom], [stick.CodeNoRepository], [stick.CodeGitMissing], [stick.CodeGitTooOld] and, when
// git takes too long, [stick.CodeInternal].
// See docs/decisions/reservations-and-patterns.md#what-tt-conflicts-compares.
func (sc *Scopes) GetConflicts(ctx context.Context, p GetConflictsParams) (GetConflictsResult, error) {
	res := GetConflictsResult{Sides: []ConflictSide{}, Conflicts: []Conflict{}, LeftOut: []Uncompared{}}
	p.Where = sc.core.Located(p.Where)

	var room stick.Room
	err := sc.core.Read(ctx, p.Where, p.Caller, func(
		_ *store.Tx, _ *core.Probes, r stick.Room, me core.Identity,
	) error {
		room, res.RoomID, res.AgentID = r, r.ID, me.Agent
		return nil
	})
	if err != nil {
		return res, err
	}

	dir, err := sc.repositoryDir(ctx, p.Where)
	if err != nil {
		return res, err
	}

	// No transaction is open here: git may take seconds.
	limited, cancel := context.WithTimeout(ctx, conflictsLimit)
	defer cancel()
	file := sc.knownFile(dir)
	seen, err := sc.core.Config.Git.Collisions(limited, dir, readKnown(file), p.Shows)
	switch {
	case ctx.Err() != nil:
		// The caller gave up. That isn't a limit of git.
		return res, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return res, stick.Errorf(stick.CodeInternal, "git didn't answer within %s", stick.Age(conflictsLimit))
	case err != nil:
		return res, err
	}

	keepKnown(file, seen.Known)

	workers := map[string]stick.AgentID{} // by branch
	err = sc.core.Read(ctx, p.Where, p.Caller, func(
		tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity,
	) error {
		tasks, err := tx.Tasks(r.ID)
		for _, t := range tasks {
			workers[t.Branch] = t.Worker
		}
		return err
	})

	res.addCollisions(seen, room.Turn, workers)
	return res, err
}

// repositoryDir returns a directory in which git finds the repository of a room.
func (sc *Scopes) repositoryDir(ctx context.Context, w core.Where) (string, error) {
	place, err := sc.core.PlaceOf(ctx, w)
	if err != nil {
		return "", err
	}

	if err := place.CheckRepository(); err != nil {
		return "", err
	}

	if place.Found != workspace.FoundGit {
		return "", stick.Errorf(stick.CodeNoRepository,
			"%s isn't in a git repository, so nothing can conflict", place.Root).
			With("path", place.Root)
	}

	return place.Repository(), nil
}

func (res *GetConflictsResult) addCollisions(seen git.Collisions, t stick.Turn, workers map[string]stick.AgentID) {
	for i := range seen.Sides {
		s := &seen.Sides[i]
		res.Sides = append(res.Sides, ConflictSide{
			Name: s.Name, Path: s.Path, Branch: s.Branch, Head: s.Head, Dirty: s.Dirty, Agent: agentAt(s, t, workers),
		})
	}

	for _, c := range seen.Found {
		v := Conflict{
			A: c.A.Name, B: c.B.Name, Path: c.Path, Kind: KindBothChanged, Says: c.Kind,
			ALines: lineRanges(c.ALines), BLines: lineRanges(c.BLines), Agents: []stick.AgentID{},
		}

		if c.Conflict {
			v.Kind = KindConflict
		}

		for _, s := range []*git.Side{c.A, c.B} {
			if agent := agentAt(s, t, workers); agent != "" && !slices.Contains(v.Agents, agent) {
				v.Agents = append(v.Agents, agent)
			}
		}

		res.Conflicts = append(res.Conflicts, v)
	}

	for _, l := range seen.LeftOut {
		res.LeftOut = append(res.LeftOut, Uncompared(l))
	}
}

// agentAt returns the agent to talk to about a working tree. For the main one it is the holder of the stick,
// or the last holder; for a worktree it is the worker of its task.
func agentAt(s *git.Side, t stick.Turn, workers map[string]stick.AgentID) stick.AgentID {
	switch {
	case !s.Main:
		return workers[s.Branch]
	case t.State == stick.Owned:
		return t.Owner
	}
	return t.Prior
}

func lineRanges(lines []git.Lines) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.String()
	}
	return out
}
