package harness

import (
	"cmp"
	"strings"

	"talkingstick/stick"
)

// fillPerson fills in the caller as a person. Their process is the outermost one in the terminal, usually the
// login shell.
func (r *resolver) fillPerson() {
	f := &r.caller
	f.Person, f.Harness = true, Human
	r.say("So this is a person: %s.", f.User)
	f.Terminal = r.terminalName()
	if f.Terminal == "" {
		r.say("There is no terminal, so no process vouches for them.")
	} else {
		// The last one that matches is the outermost in the terminal.
		for _, p := range r.in.Chain {
			if p.TTY == f.Terminal {
				f.Process = p.ID
			}
		}

		f.Proof = stick.ProvesTurn
		r.say("Process %d holds the terminal %s; its end proves nothing.", f.Process.PID, f.Terminal)
	}

	if f.As != "" {
		r.say("%s gives them the name %s.", r.in.AsSource, f.As)
	}
}

// terminalName returns the controlling terminal, empty without one.
func (r *resolver) terminalName() string {
	if len(r.in.Chain) == 0 {
		return ""
	}
	return r.in.Chain[0].TTY
}

// nameLimit is the longest name of an agent.
const nameLimit = 64

// userName turns a user's name into one that fits into an agent's.
func userName(user string) string {
	return cmp.Or(slugOf(user, nameLimit-len(Human+":")), "user")
}

// slugOf turns a text into a part of an agent's name, of at most so many bytes. It is empty if nothing of the
// text fits.
func slugOf(text string, most int) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, strings.ToLower(text))
	return strings.Trim(name[:min(len(name), most)], "-")
}
