package harness

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"talkingstick/stick"
)

// BreakTags breaks the tags by which harnesses mark what they add to a prompt themselves, such as reminders
// and the calls of tools, in a text that an agent reads: whoever wrote such a tag, it wasn't the harness. It
// breaks those of all harnesses, because a text that one agent reads may reach another. Everything else stays
// as it is, because the text may hold code that somebody reviews, or a command with blanks to fill in.
func BreakTags(text string) string { return breakTags(text, "&lt;") }

// EscapeTags is BreakTags for a JSON document. Whoever parses the document gets the same values as before.
func EscapeTags(doc string) string { return breakTags(doc, `\u003c`) }

// breakTags writes instead for the "<" of each tag of a harness.
func breakTags(text, instead string) string {
	var b strings.Builder
	done := 0
	for i := range len(text) {
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		if name, ok := stick.TagAt(text[i:]); ok && isTag(name, before) {
			b.WriteString(text[done:i] + instead)
			done = i + 1
		}
	}

	return b.String() + text[done:]
}

// commonTags are names of tags that stand for whoever speaks, or for a tool, with several models and harnesses.
// They are written as [Row.Tags] are.
var commonTags = []string{
	"system", "developer", "user", "human", "assistant", "tool", "tools", "function", "functions",
	"system-*", "system_*", "tool-*", "tool_*", "function_*", "user_query", "user_message", "user_input",
	"user_prompt", "user_info", "persisted-output",
}

// isTag reports whether a harness could have a tag of this name, after this character. The argument of a type
// isn't one, so that code such as Promise<User> stays as it is.
func isTag(name string, before rune) bool {
	if strings.HasPrefix(name, "|") {
		return true
	}

	first, _ := utf8.DecodeRuneInString(name)
	isType := unicode.IsUpper(first) && strings.ToUpper(name) != name && !strings.ContainsAny(name, "-_:")
	if isType && (unicode.IsLetter(before) || unicode.IsDigit(before) || before == '_') {
		return false
	}

	name = strings.ToLower(name)
	if hasTag(commonTags, name) {
		return true
	}

	for _, row := range Rows {
		if hasTag(row.Tags, name) {
			return true
		}
	}

	return false
}

// hasTag reports whether one of tags is the name.
func hasTag(tags []string, name string) bool {
	for _, t := range tags {
		begins, more := strings.CutSuffix(t, "*")
		if name == begins || more && strings.HasPrefix(name, begins) {
			return true
		}
	}

	return false
}
