package harness

import "talkingstick/stick"

// checkName fails if name, which was asked for at source, can't be an agent's. Empty asks for none.
func checkName(name, source string) error {
	if name == "" {
		return nil
	}
	if _, err := stick.ParseAgentID(name); err != nil {
		return stick.Errorf(stick.CodeUsage, "%s %q isn't an agent's name", source, stick.Clip(name, 80)).
			With("field", source).
			Hintf("use a name like claude, claude:reviewer or codex:1a2b3c4d; before the colon, lower case only")
	}

	return nil
}
