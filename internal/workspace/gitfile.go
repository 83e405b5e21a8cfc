package workspace

import (
	"bytes"
	"strings"
)

// parseGitFile parses a .git file, which holds "gitdir: <path>". Spaces are part of the path.
func parseGitFile(b []byte) (path string, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte("gitdir: "))
	if !ok {
		return "", false
	}
	return parseLine(b)
}

// parseLine parses a file that holds one line with a path, as git's own records do.
func parseLine(b []byte) (path string, ok bool) {
	path = strings.TrimRight(string(b), "\r\n")
	return path, path != "" && !strings.ContainsRune(path, 0)
}

// parseWorktree finds core.worktree in a git configuration file.
func parseWorktree(b []byte) (path string, ok bool) {
	path, ok = parseCore(b, "worktree")
	return path, ok && path != "" && !strings.ContainsRune(path, 0)
}

// parseCore finds a setting of the section core in a git configuration file. As in git, the last one
// counts. It understands what git itself writes, one setting a line, and follows no includes.
func parseCore(b []byte, setting string) (text string, ok bool) {
	core := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}

		name, value, found := strings.Cut(line, "=")
		if core && found && strings.EqualFold(strings.TrimSpace(name), setting) {
			text, ok = unquoteValue(strings.TrimSpace(value))
		}
	}

	return text, ok
}

// unquoteValue parses a value of a git configuration file. Quotes may surround any part of it, a backslash
// escapes the next character, and # or ; outside quotes begins a comment.
func unquoteValue(s string) (string, bool) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case '"', '\\':
				b.WriteByte(s[i])
			case 't':
				b.WriteByte('\t')
			case 'n':
				b.WriteByte('\n')
			default:
				return "", false
			}
		case c == '\\':
			return "", false
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimRight(b.String(), " \t"), true
		default:
			b.WriteByte(c)
		}
	}

	return b.String(), !quoted
}
