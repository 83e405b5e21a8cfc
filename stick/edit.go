package stick

import (
	"slices"
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

// MaxDenied is how many paths a denial names.
const MaxDenied = 5

// In names the room in which something is against the rules, for a caller that is in another place.
func (e *Error) In(room string) *Error {
	e.Message, e.Hint = "in the room of "+Line(room)+", "+e.Message, e.Hint.At(room)
	return e.With("workspace", room)
}
