package presence

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"talkingstick/stick"
)

// ContextName turns a requested name into the name of a file: letters, digits, dots, dashes and
// underscores, with no dot in front. It is empty if none of the name is left.
func ContextName(s string) string {
	name := strings.Map(func(c rune) rune {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, s)
	name = strings.Trim(name, "-.")
	if len(name) > stick.MaxContext { // two names that differ only in what is cut off stay different
		name = strings.TrimRight(name[:stick.MaxContext-9], "-.") + "-" + shortSum(s, 8)
	}

	// Windows reserves these names, with any ending
	for _, device := range []string{"con", "prn", "aux", "nul", "com", "lpt"} {
		stem, _, _ := strings.Cut(strings.ToLower(name), ".")
		if stem == device || len(stem) == 4 && strings.HasPrefix(stem, device) {
			return "session-" + name
		}
	}

	return name
}

func shortSum(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])[:n]
}

// contextName names a session's context file. The primary's is always the same, so that the next primary
// finds it. A helper keeps its file, or gets the one that it asked for, or one with four digits of its own.
// Two sessions share a file only if one of them is gone: then the other inherits its notes.
func contextName(r stick.Room, q Starting, role stick.Role, kept string, s *stick.Probed) string {
	if role == stick.RolePrimary {
		return ""
	}

	// The file of a session that is gone may be inherited.
	used := func(name string) bool {
		return slices.ContainsFunc(r.Members, func(m stick.Member) bool {
			return m.Agent != q.By && ownsContext(m, name) && m.Verdict(s) != stick.Gone
		})
	}

	if kept != "" && !used(kept) {
		return kept
	}

	if asked := ContextName(q.Context); asked != "" {
		name := asked
		for n := 2; used(name); n++ {
			name = fmt.Sprintf("%s-%d", asked, n)
		}
		return name
	}

	// A name with digits of its own: it is free after a few attempts.
	for n := 0; ; n++ {
		name := "helper-" + shortSum(fmt.Sprintf("%s/%d", q.Seed, n), 4+n/1000)
		if !used(name) && !slices.ContainsFunc(q.Taken, func(t string) bool { return strings.EqualFold(t, name) }) {
			return name
		}
	}
}

// ownsContext reports whether a context file belongs to the member's running session. Upper and lower case don't
// count, because some file systems don't distinguish them.
func ownsContext(m stick.Member, name string) bool {
	return m.State == stick.Joined && m.Session.Running && strings.EqualFold(m.Session.Context, name)
}

// contextOwner returns the member other than a whose running session has a helper's context file.
func contextOwner(r stick.Room, name string, a stick.AgentID) (stick.AgentID, bool) {
	i := slices.IndexFunc(r.Members, func(m stick.Member) bool { return name != "" && m.Agent != a && ownsContext(m, name) })
	if i < 0 {
		return "", false
	}
	return r.Members[i].Agent, true
}
