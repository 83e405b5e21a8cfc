package stick

import (
	"slices"

	"talkingstick/stick/glob"
)

// Enforce says how strictly a room applies its rules to edits.
type Enforce string

const (
	// EnforceOff lets everybody edit. An agent that asks still learns what would be against the rules.
	EnforceOff Enforce = "off"
	// EnforceWarn lets everybody edit. Who edits what [EnforceScopes] would deny is told so, and so is the
	// holder of the stick.
	EnforceWarn Enforce = "warn"
	// EnforceStick lets only the holder of the stick edit. Reservations inform others, and deny nobody.
	EnforceStick Enforce = "stick"
	// EnforceScopes also lets agents edit the paths that they have reserved.
	EnforceScopes Enforce = "scopes"
)

// strictness lists what a room can enforce, the mildest first.
var strictness = []Enforce{EnforceOff, EnforceWarn, EnforceScopes, EnforceStick}

// Known reports whether e is a word that this program knows. A room with another one, which a newer program
// has set, enforces nothing here.
func (e Enforce) Known() bool { return slices.Contains(strictness, e) }

// Denies reports whether edits that are against the rules are denied.
func (e Enforce) Denies() bool { return e == EnforceStick || e == EnforceScopes }

// HearsScopes reports whether an agent may edit what it has reserved as if it held the stick.
func (e Enforce) HearsScopes() bool { return e == EnforceWarn || e == EnforceScopes }

// Editing is the question whether an agent may change paths now.
type Editing struct {
	By     AgentID
	Above  Lineage // of the caller
	Person bool
	Paths  []string // relative to the room's root, / between the names
	Dirs   []string // directories that are changed with everything below them; written like Paths
	Tree   bool     // anything in the shared tree
	Apart  []string // worktrees in which something is changed, written like Paths
	Fold   bool     // the file system doesn't distinguish upper and lower case
	In     Checkout // in which these are

	PrimaryOnly []glob.Pattern // what only the primary may change, even if a helper holds the stick
}

// maxDenied is how many paths a denial names.
const maxDenied = 5

// Judgement is the answer to the question whether an agent may edit. At most one of the two is set; if none
// is, nothing is against the rules.
type Judgement struct {
	Denied *Error // refuses the edit, with [CodeEditDenied]
	Told   *Error // allows it, and says to the editor what is against the rules; see [EnforceWarn]
}

// MayEdit judges an edit. People may always edit. While the room is paused, no agent may: not in the shared
// tree, even if it holds the stick, and not in a worktree. Otherwise worktrees aren't judged here. Whom the
// holder started may what the holder may, except for what is left to the primary. So may everybody in a
// closed room, in a room that enforces nothing, and in another checkout than that of whoever has the turn,
// unless [FencedAll]; there only reservations of others count. near must hold at least the reservations that
// could match one of the paths, if [Enforce.HearsScopes]. See
// docs/decisions/reservations-and-patterns.md#policies-of-edits.
func (r Room) MayEdit(q Editing, near []Reservation, s *Probed, now Time) Judgement {
	return r.asEnforced(r.findViolation(q, near, s, now))
}

// In names the room in which something is against the rules, for a caller that is in another place.
func (e *Error) In(room string) *Error {
	e.Message, e.Hint = "in the room of "+Line(room)+", "+e.Message, e.Hint.At(room)
	return e.With("workspace", room)
}

// asEnforced makes of what is against the rules a refusal or a warning.
func (r Room) asEnforced(why *Error) Judgement {
	if r.Policy.Enforce.Denies() {
		return Judgement{Denied: why}
	}
	return Judgement{Told: why}
}

// findViolation says why an edit is against the rules of the room, nil if it isn't.
func (r Room) findViolation(q Editing, near []Reservation, s *Probed, now Time) *Error {
	shared := len(q.Paths)+len(q.Dirs) > 0 || q.Tree
	if q.Person || !r.Enforces() || !shared && len(q.Apart) == 0 {
		return nil
	}

	// Rules for every agent come first: of members, of a pause, and of worktrees.
	all := slices.Concat(q.Paths, q.Dirs, q.Apart)
	m, _ := r.Member(q.By)
	switch {
	case m.State == Kicked && shared:
		return r.errEditDenied(q.notYours(all)+": you were removed from this room", all).
			Hintf("%s", RejoinStep(q.By))
	case r.Paused.On():
		wait := Cmd("tt wait")
		if !shared { // who works on a task doesn't want the stick
			wait = Cmd("tt wait --park")
		}
		return r.errEditDenied(r.Paused.saysWho(now), all).With("paused", r.Paused).Hintf("%s", r.stepInPause(q.By, wait))
	case !shared:
		return nil
	}

	// What is the primary's stays so, even if the holder has started the caller.
	if theirs, why := q.primaryOnlyPaths(m); len(theirs) > 0 {
		return r.errEditDenied(q.nameTarget(theirs)+why+", and you are a helper", theirs).
			Hintf("ask it: %s", Cmd("tt msg send role:primary …"))
	}

	// The stick, or the turn of who started the caller, gives the right to everything else.
	if _, under := r.Parent(q.By, q.Above, s); under || r.Turn.State == Owned && r.Turn.Owner == q.By {
		return nil
	}

	// Without the stick only reservations decide.
	free := r.Policy.EnforceCheckouts != FencedAll && r.isTurnInOtherCheckout(q.In)
	denied, instead := r.listUnreserved(q, near, s, now, free)
	if len(denied) == 0 && (!q.Tree || free) {
		return nil
	}

	what := q.notYours(denied)
	if instead != nil {
		hint := r.stepToEdit()
		if r.Turn.Owner != instead.Agent { // otherwise the hint already says whom to ask
			hint = Hintf("ask: %s; or %s", Cmd("tt msg send <agent> …", instead.Agent), hint)
		}

		return r.errEditDenied(Wordsf("%s now: %s has reserved %s, and you don't hold the stick",
			what, instead.Agent, patternWords(instead.Pattern)), denied).
			With("owner", instead.Agent).With("reservation_id", instead.ID).Hintf("%s", hint)
	}

	return r.errEditDenied(Wordsf("%s now: %s", what, r.Holder(now)), denied).Hintf("%s", r.stepToEdit())
}

// listUnreserved lists the paths that the caller may not change without the stick. instead is the first
// reservation of somebody else that decides so, if there is one. With free that is needed: what nobody has
// reserved is everybody's. A change of the whole tree names no paths.
func (r Room) listUnreserved(q Editing, near []Reservation, s *Probed, now Time, free bool) (
	denied []string, instead *Reservation,
) {
	if q.Tree {
		return nil, nil
	}

	rules := r.rulesFor(q, near, s, now)
	judge := func(path string, mine bool, v *Reservation) {
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
func (r Room) stepToEdit() Hint {
	if r.Turn.State == Idle {
		return Hintf("take the turn: %s", Cmd("tt wait"))
	}

	return r.NextStep()
}

// primaryOnlyPaths lists the paths that m may not change because it is a helper, and says why. A pattern that
// could match anywhere doesn't forbid directories: nobody knows which of them will hold such a file.
func (q Editing) primaryOnlyPaths(m Member) (theirs []string, why Words) {
	if m.State != Joined || !m.Session.Running || m.Session.Role != RoleHelper {
		return nil, ""
	}

	for _, p := range q.Paths {
		if slices.ContainsFunc(q.PrimaryOnly, func(only glob.Pattern) bool { return only.Match(p, q.Fold) }) {
			theirs, why = append(theirs, p), " is the primary's to change"
		}
	}

	for _, d := range q.Dirs {
		i := slices.IndexFunc(q.PrimaryOnly, func(only glob.Pattern) bool { return only.LiteralFirst() && only.Meets(d, q.Fold) })
		if i < 0 {
			continue
		}

		if theirs = append(theirs, d); why == "" {
			why = Wordsf(" holds %s, which is the primary's to change", q.PrimaryOnly[i])
		}
	}

	return theirs, why
}

// Enforces reports whether edits that are against the room's rules are denied or told.
func (r Room) Enforces() bool {
	return !r.Closed && r.Policy.Enforce.Known() && r.Policy.Enforce != EnforceOff
}

// KeepsSnapshots reports whether uncommitted work is copied in the room.
func (r Room) KeepsSnapshots() bool { return r.Enforces() && r.Policy.Snapshots != SnapshotsOff }

// rules are the reservations that decide who may edit without the stick: those that aren't stale, the
// earliest first. A pattern that could match anywhere gives no such right.
type rules struct {
	by   AgentID
	fold bool
	all  []rule
}

type rule struct {
	Reservation
	matches func(string) bool
}

// GivesRight reports whether a reservation of p lets its owner edit without the stick. One that could match
// anywhere doesn't.
func (r Room) GivesRight(p glob.Pattern) bool {
	return r.Policy.Enforce.HearsScopes() && p.LiteralFirst()
}

func (r Room) rulesFor(q Editing, near []Reservation, s *Probed, now Time) rules {
	var all []rule

	for _, v := range near {
		if r.GivesRight(v.Pattern) && !r.Stale(v, s, now) {
			all = append(all, rule{v, v.Pattern.Matcher(q.Fold)})
		}
	}

	slices.SortFunc(all, func(a, b rule) int { return int(a.ID - b.ID) })
	return rules{q.By, q.Fold, all}
}

// earliestFor returns the reservation that decides about a path: the earliest that matches it.
func (x rules) earliestFor(path string) *Reservation {
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
func (x rules) mayChangeBelow(dir string) (mine bool, instead *Reservation) {
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
func (q Editing) nameTarget(paths []string) Words {
	switch {
	case q.Tree || len(paths) == 0:
		return "the working tree"
	case len(paths) == 1:
		return cutName(paths[0], 120)
	}

	return Wordsf("%s and %d more", cutName(paths[0], 120), len(paths)-1)
}

// notYours begins the sentence that denies it.
func (q Editing) notYours(paths []string) Words {
	if len(paths) > 1 && !q.Tree {
		return q.nameTarget(paths) + " aren't yours to change"
	}

	return q.nameTarget(paths) + " isn't yours to change"
}

func (r Room) errEditDenied(why Words, paths []string) *Error {
	if len(paths) > maxDenied {
		paths = paths[:maxDenied]
	}

	return r.withStickFacts(Errorf(CodeEditDenied, "%s", why)).With("paths", append([]string{}, paths...)).
		With("enforce", r.Policy.Enforce)
}

// clipPaths returns the first few paths, cut to a length that fits into an event.
func clipPaths(paths []string) []string {
	var out []string

	for _, p := range paths[:min(len(paths), maxDenied)] {
		out = append(out, Clip(p, 256))
	}

	return out
}

// maxReserved is how many reservations an answer names.
const maxReserved = 20

// ReservedByOthers lists those of near that belong to others, aren't stale, and match one of the paths.
func (r Room) ReservedByOthers(q Editing, near []Reservation, s *Probed, now Time) (out []Reservation) {
	for _, v := range near {
		if len(out) == maxReserved {
			break
		}

		if v.Agent != q.By && q.matchesPattern(v.Pattern) && !r.Stale(v, s, now) {
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
