package workspace

import (
	"bytes"
	"strings"
)

// parseGitFile reads a .git file, which holds "gitdir: <path>". Spaces in the path are a part of it.
func parseGitFile(b []byte) (path string, ok bool) {
	b, ok = bytes.CutPrefix(b, []byte("gitdir: "))
	if !ok {
		return "", false
	}
	return parseLine(b)
}

// parseLine reads a file that holds a path and the end of its line, as git's own records do.
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
// counts. It knows what git itself writes, which is one setting on a line; includes aren't followed.
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
			text, ok = unquote(strings.TrimSpace(value))
		}
	}
	return text, ok
}

// unquote reads a value of a git configuration file: quotes may surround any part of it, a backslash
// protects the next character, and what follows # or ; outside of quotes is a comment.
func unquote(s string) (string, bool) {
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
