package install

import (
	"bytes"
	"encoding/json"
	"slices"

	"talkingstick/internal/confedit"
	"talkingstick/internal/harness"
	"talkingstick/stick"
)

// OlderHooksText says what to do about hooks that an earlier version of tt has installed for a harness, for
// its user or, with a project, for the project. It is empty if there are none. The program may have moved
// since; that isn't an earlier version.
func OlderHooksText(t Target, row harness.Row) stick.Words {
	level, found := t.findLevel(func(t Target) bool { return t.hasOlder(row) })
	if !found {
		return ""
	}

	then := stick.Words("start a new session")
	if row.Setup.Trust != nil {
		then = row.Setup.Trust.Review
	}

	return stick.Wordsf(
		"the hooks of %s are of an earlier version of tt: ask your user to run tt install %s%s, and then to %s",
		row.Title, row.Name, level, then,
	)
}

// OlderSkillText says what to do about a skill that another version of tt has installed for a harness, for
// its user or, with a project, for the project. It is empty if there is none, or if somebody has edited it:
// then install leaves it alone.
func OlderSkillText(t Target, row harness.Row) stick.Words {
	level, found := t.findLevel(func(t Target) bool { return t.hasOlderSkill(row) })
	if !found {
		return ""
	}

	return stick.Wordsf(
		"the skill talking-stick of %s is of another version of tt: ask your user to run tt install %s%s",
		row.Title, row.Name, level,
	)
}

// findLevel looks for something that is installed for the user, and then for the project. It returns the flag
// of tt install for that level.
func (t Target) findLevel(has func(Target) bool) (flag stick.Words, found bool) {
	user := t
	user.Project = ""
	if has(user) {
		return "", true
	}

	// A home directory that is a project has one level.
	if t.Project == "" || isSameFile(t.Project, t.Home) {
		return "", false
	}
	return " --project", has(t)
}

// hasOlderSkill reports whether the skill of another version is installed at this level.
func (t Target) hasOlderSkill(row harness.Row) bool {
	file := t.skillFile(row.Setup)
	if file == "" {
		return false
	}

	have, err := confedit.Read(file)
	return err == nil && string(have) != harness.Skill && (isShipped(have) || t.hasWritten(file, have))
}

// hasOlder reports whether hooks, or a plugin, of an earlier version are installed at this level.
func (t Target) hasOlder(row harness.Row) bool {
	if file := t.filePath(row.Setup, row.Setup.Plugin); file != "" {
		have, err := confedit.Read(file)
		plain := pluginProgram().ReplaceAll(have, nil)
		now := pluginProgram().ReplaceAll([]byte(row.Setup.Code(t.programPath())), nil)
		return err == nil && !bytes.Equal(plain, now) && (isShipped(plain) || t.hasWritten(file, have))
	}

	src, err := confedit.Read(t.filePath(row.Setup, row.Setup.Hooks))
	if err != nil || !bytes.Contains(src, []byte(" hook")) {
		return false
	}

	raw, _, err := confedit.JSONGet(src, []string{"hooks"})
	var events map[string][]group
	if err != nil || json.Unmarshal(raw, &events) != nil {
		return false
	}

	ours := func(wake bool) func(group) bool {
		return func(g group) bool { return slices.ContainsFunc(g.Hooks, t.isHook(wake)) }
	}

	any, all := false, true
	for _, h := range t.wantedHooks(row, row.Setup) {
		i := slices.IndexFunc(events[h.event], ours(h.wake))
		any = any || i >= 0
		all = all && i >= 0 && t.isCurrent(events[h.event][i], h)
	}

	return any && !all
}

// isCurrent reports whether a group has a handler as this version installs it, wherever the program lies.
// Where somebody has put it beside others, the tools that it is for are theirs to choose.
func (t Target) isCurrent(g group, want hook) bool {
	for _, one := range g.Hooks {
		var h harness.Handler
		if !t.isHook(want.wake)(one) || json.Unmarshal(one, &h) != nil {
			continue
		}

		rest := func(command string) string { return command[len(hookForm().FindStringSubmatch(command)[1]):] }
		if rest(h.Command) != rest(want.Command) {
			return false
		}
	}

	return len(g.Hooks) > 1 || g.Matcher == nil && want.tools == "" || g.Matcher != nil && *g.Matcher == want.tools
}
