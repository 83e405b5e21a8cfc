package edits

import (
	"slices"

	"talkingstick/stick"
	"talkingstick/stick/glob"
	"talkingstick/stick/scope"
)

// Editing is the question whether an agent may change paths now.
type Editing struct {
	By     stick.AgentID
	Above  stick.Lineage // of the caller
	Person bool
	Paths  []string       // relative to the room's root, / between the names
	Dirs   []string       // directories that are changed with everything below them; written like Paths
	Tree   bool           // anything in the shared tree
	Apart  []string       // worktrees in which something is changed, written like Paths
	Fold   bool           // the file system doesn't distinguish upper and lower case
	In     stick.Checkout // in which these are

	PrimaryOnly []glob.Pattern // what only the primary may change, even if a helper holds the stick
}

// Judgement is the answer to the question whether an agent may edit. At most one of the two is set; if none
// is, nothing is against the rules.
type Judgement struct {
	Denied *stick.Error // refuses the edit, with [stick.CodeEditDenied]
	Told   *stick.Error // allows it, and says to the editor what is against the rules; see [stick.EnforceWarn]
}

// MayEdit judges an edit. People may always edit. While the room is paused, no agent may: not in the shared
// tree, even if it holds the stick, and not in a worktree. Otherwise worktrees aren't judged here. Whom the
// holder started may what the holder may, except for what is left to the primary. So may everybody in a
// closed room, in a room that enforces nothing, and in another checkout than that of whoever has the turn,
// unless [stick.AllCheckouts]; there only reservations of others count. near must hold at least the
// reservations that could match one of the paths, if [stick.Enforce.HearsScopes]. See
// docs/decisions/reservations-and-patterns.md#policies-of-edits.
func MayEdit(r stick.Room, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time) Judgement {
	return asEnforced(r, findViolation(r, q, near, s, now))
}

// asEnforced makes of what is against the rules a refusal or a warning.
func asEnforced(r stick.Room, why *stick.Error) Judgement {
	if r.Policy.Enforce.Denies() {
		return Judgement{Denied: why}
	}
	return Judgement{Told: why}
}

// findViolation says why an edit is against the rules of the room, nil if it isn't.
func findViolation(r stick.Room, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time) *stick.Error {
	shared := len(q.Paths)+len(q.Dirs) > 0 || q.Tree
	if q.Person || !Enforces(r) || !shared && len(q.Apart) == 0 {
		return nil
	}

	// Rules for every agent come first: of members, of a pause, and of worktrees.
	all := slices.Concat(q.Paths, q.Dirs, q.Apart)
	m, _ := r.Member(q.By)
	switch {
	case m.State == stick.Kicked && shared:
		return errEditDenied(r, q.notYours(all)+": you were removed from this room", all).
			Hintf("%s", stick.RejoinStep(q.By))
	case r.Paused.On():
		wait := stick.Cmd("tt wait")
		if !shared { // who works on a task doesn't want the stick
			wait = stick.Cmd("tt wait --park")
		}
		return errEditDenied(r, r.Paused.SaysWho(now), all).With("paused", r.Paused).
			Hintf("%s", r.StepInPause(q.By, wait))
	case !shared:
		return nil
	}

	// What is the primary's stays so, even if the holder has started the caller.
	if theirs, why := q.primaryOnlyPaths(m); len(theirs) > 0 {
		return errEditDenied(r, q.nameTarget(theirs)+why+", and you are a helper", theirs).
			Hintf("ask it: %s", stick.Cmd("tt msg send role:primary …"))
	}

	// The stick, or the turn of who started the caller, gives the right to everything else.
	if _, under := r.Parent(q.By, q.Above, s); under || r.Turn.State == stick.Owned && r.Turn.Owner == q.By {
		return nil
	}

	// Without the stick only reservations decide.
	free := r.Policy.EnforceCheckouts != stick.AllCheckouts && isTurnInOtherCheckout(r, q.In)
	denied, instead := listUnreserved(r, q, near, s, now, free)
	if len(denied) == 0 && (!q.Tree || free) {
		return nil
	}

	what := q.notYours(denied)
	if instead != nil {
		hint := stepToEdit(r)
		if r.Turn.Owner != instead.Agent { // otherwise the hint already says whom to ask
			hint = stick.Hintf("ask: %s; or %s", stick.Cmd("tt msg send <agent> …", instead.Agent), hint)
		}

		return errEditDenied(r, stick.Wordsf("%s now: %s has reserved %s, and you don't hold the stick",
			what, instead.Agent, stick.PatternWords(instead.Pattern)), denied).
			With("owner", instead.Agent).With("reservation_id", instead.ID).Hintf("%s", hint)
	}

	return errEditDenied(r, stick.Wordsf("%s now: %s", what, r.Holder(now)), denied).Hintf("%s", stepToEdit(r))
}

// listUnreserved lists the paths that the caller may not change without the stick. instead is the first
// reservation of somebody else that decides so, if there is one. With free that is needed: what nobody has
// reserved is everybody's. A change of the whole tree names no paths.
func listUnreserved(r stick.Room, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time, free bool) (
	denied []string, instead *stick.Reservation,
) {
	if q.Tree {
		return nil, nil
	}

	rules := rulesFor(r, q, near, s, now)
	judge := func(path string, mine bool, v *stick.Reservation) {
		if mine || free && v == nil {
			return
		}
		if denied = append(denied, path); instead == nil {
			instead = v
		}
	}

	// A path is the caller's if its own reservation is the earliest that matches.
	for _, p := range q.Paths {
		if glob.Matchable(p, q.Fold) { // paths in worktrees and in .git aren't the room's
			v := rules.earliestFor(p)
			judge(p, v != nil && v.Agent == q.By, v)
		}
	}

	// A directory is, if nobody could have a part of it.
	for _, d := range q.Dirs {
		if glob.Matchable(d, q.Fold) {
			mine, v := rules.mayChangeBelow(d)
			judge(d, mine, v)
		}
	}

	return denied, instead
}

// stepToEdit returns the hint how to get the right to edit.
func stepToEdit(r stick.Room) stick.Hint {
	if r.Turn.State == stick.Idle {
		return stick.Hintf("take the turn: %s", stick.Cmd("tt wait"))
	}

	return r.NextStep()
}

// primaryOnlyPaths lists the paths that m may not change because it is a helper, and says why. A pattern that
// could match anywhere doesn't forbid directories: nobody knows which of them will hold such a file.
func (q Editing) primaryOnlyPaths(m stick.Member) (theirs []string, why stick.Words) {
	if m.State != stick.Joined || !m.Session.Running || m.Session.Role != stick.RoleHelper {
		return nil, ""
	}

	for _, p := range q.Paths {
		if slices.ContainsFunc(q.PrimaryOnly, func(only glob.Pattern) bool { return only.Match(p, q.Fold) }) {
			theirs, why = append(theirs, p), " is the primary's to change"
		}
	}

	for _, d := range q.Dirs {
		i := slices.IndexFunc(q.PrimaryOnly,
			func(only glob.Pattern) bool { return only.LiteralFirst() && only.Meets(d, q.Fold) })
		if i < 0 {
			continue
		}

		if theirs = append(theirs, d); why == "" {
			why = stick.Wordsf(" holds %s, which is the primary's to change", q.PrimaryOnly[i])
		}
	}

	return theirs, why
}

// Enforces reports whether edits that are against the room's rules are denied or told.
func Enforces(r stick.Room) bool {
	return !r.Closed && r.Policy.Enforce.Known() && r.Policy.Enforce != stick.EnforceOff
}

// KeepsSnapshots reports whether uncommitted work is copied in the room.
func KeepsSnapshots(r stick.Room) bool {
	return Enforces(r) && r.Policy.Snapshots != stick.SnapshotsOff
}

// rules are the reservations that decide who may edit without the stick: those that aren't stale, the
// earliest first. A pattern that could match anywhere gives no such right.
type rules struct {
	by   stick.AgentID
	fold bool
	all  []rule
}

type rule struct {
	stick.Reservation
	matches func(string) bool
}

// GivesRight reports whether a reservation of p lets its owner edit without the stick. One that could match
// anywhere doesn't.
func GivesRight(r stick.Room, p glob.Pattern) bool {
	return r.Policy.Enforce.HearsScopes() && p.LiteralFirst()
}

func rulesFor(r stick.Room, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time) rules {
	var all []rule

	for _, v := range near {
		if GivesRight(r, v.Pattern) && !scope.Stale(r, v, s, now) {
			all = append(all, rule{v, v.Pattern.Matcher(q.Fold)})
		}
	}

	slices.SortFunc(all, func(a, b rule) int { return int(a.ID - b.ID) })
	return rules{q.By, q.Fold, all}
}

// earliestFor returns the reservation that decides about a path: the earliest that matches it.
func (x rules) earliestFor(path string) *stick.Reservation {
	for i := range x.all {
		if x.all[i].matches(path) {
			return &x.all[i].Reservation
		}
	}

	return nil
}

// mayChangeBelow reports whether the caller may change a directory with everything that could lie below it. One of
// its reservations must cover all of that, and nobody may have reserved a part of it earlier. If another
// agent reserved a part that the caller had already reserved, the caller's reservation decides, because it
// is the earlier one. If mine is false, instead is the reservation that is in the way, if one is.
func (x rules) mayChangeBelow(dir string) (mine bool, instead *stick.Reservation) {
	var had []rule
	for i, v := range x.all {
		switch {
		case v.Agent == x.by && v.Pattern.Covers(dir, x.fold):
			return true, nil
		case v.Agent == x.by:
			had = append(had, v)

		// It lies apart from the directory, so it is in nobody's way.
		case !v.Pattern.Meets(dir, x.fold):
		// Somebody has a part that the caller hadn't reserved before.
		case !slices.ContainsFunc(had, func(h rule) bool { return h.Pattern.Covers(v.Pattern.Prefix(false), x.fold) }):
			return false, &x.all[i].Reservation
		}
	}

	return false, nil
}

// nameTarget names what the caller wants to change.
func (q Editing) nameTarget(paths []string) stick.Words {
	switch {
	case q.Tree || len(paths) == 0:
		return "the working tree"
	case len(paths) == 1:
		return stick.CutName(paths[0], 120)
	}

	return stick.Wordsf("%s and %d more", stick.CutName(paths[0], 120), len(paths)-1)
}

// notYours begins the sentence that denies it.
func (q Editing) notYours(paths []string) stick.Words {
	if len(paths) > 1 && !q.Tree {
		return q.nameTarget(paths) + " aren't yours to change"
	}

	return q.nameTarget(paths) + " isn't yours to change"
}

func errEditDenied(r stick.Room, why stick.Words, paths []string) *stick.Error {
	if len(paths) > stick.MaxDenied {
		paths = paths[:stick.MaxDenied]
	}

	return r.WithStickFacts(stick.Errorf(stick.CodeEditDenied, "%s", why)).With("paths", append([]string{}, paths...)).
		With("enforce", r.Policy.Enforce)
}

// clipPaths returns the first few paths, cut to a length that fits into an event.
func clipPaths(paths []string) []string {
	var out []string

	for _, p := range paths[:min(len(paths), stick.MaxDenied)] {
		out = append(out, stick.Clip(p, 256))
	}

	return out
}

// maxReserved is how many reservations an answer names.
const maxReserved = 20

// ReservedByOthers lists those of near that belong to others, aren't stale, and match one of the paths.
func ReservedByOthers(
	r stick.Room, q Editing, near []stick.Reservation, s *stick.Probed, now stick.Time,
) (out []stick.Reservation) {
	for _, v := range near {
		if len(out) == maxReserved {
			break
		}

		if v.Agent != q.By && q.matchesPattern(v.Pattern) && !scope.Stale(r, v, s, now) {
			out = append(out, v)
		}
	}

	return out
}

// matchesPattern reports whether a pattern matches anything that the caller wants to change.
func (q Editing) matchesPattern(p glob.Pattern) bool {
	return slices.ContainsFunc(q.Paths, p.Matcher(q.Fold)) ||
		slices.ContainsFunc(q.Dirs, func(dir string) bool { return p.Meets(dir, q.Fold) })
}
