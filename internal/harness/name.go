package harness

import (
	"regexp"

	"talkingstick/stick"
)

var namePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(:[A-Za-z0-9._-]+)?$`)

// checkName tells why name, asked for at source, can't be an agent's. Empty asks for nothing.
func checkName(name, source string) error {
	switch {
	case name == "":
		return nil
	case len(name) > nameLimit:
		return stick.Errorf(stick.CodeUsage, "the name given by %s is longer than %d bytes", source, nameLimit).
			With("field", source)
	case !namePattern.MatchString(name):
		return stick.Errorf(stick.CodeUsage, "%s %q isn't an agent's name", source, name).
			With("field", source).
			Hintf("a name is like claude, claude:reviewer or codex:1a2b3c4d")
	}
	return nil
}
