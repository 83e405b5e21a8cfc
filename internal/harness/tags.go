package harness

import (
	"regexp"
	"strings"
	"sync"
)

// BreakTags breaks the tags by which harnesses mark what they add to a prompt themselves, such as reminders
// and the calls of tools, in a text that an agent reads: whoever wrote such a tag, it wasn't the harness. It
// breaks those of all harnesses, because a text that one agent reads may reach another. Everything else stays
// as it is.
func BreakTags(text string) string { return breakTags(text, "&lt;") }

// EscapeTags is BreakTags for a JSON document. Whoever parses the document gets the same values as before.
func EscapeTags(doc string) string { return breakTags(doc, `\u003c`) }

// tag matches what may be the beginning of a tag, with its name. JSON writes a line break in a tag as two
// characters.
var tag = sync.OnceValue(func() *regexp.Regexp {
	const blanks = `(?:\s|\\[nrt])*`
	return regexp.MustCompile(`<(?:\||` + blanks + `/?` + blanks + `([\w:-]+))`)
})

func breakTags(text, instead string) string {
	if !strings.Contains(text, "<") {
		return text
	}

	var b strings.Builder
	done := 0
	for _, m := range tag().FindAllStringSubmatchIndex(text, -1) {
		if m[2] < 0 || isTag(text[m[2]:m[3]]) {
			b.WriteString(text[done:m[0]] + instead)
			done = m[0] + 1
		}
	}

	return b.String() + text[done:]
}

// isTag reports whether a harness has a tag of this name.
func isTag(name string) bool {
	name = strings.ToLower(name)
	for _, row := range Rows {
		for _, t := range row.Tags {
			begins, more := strings.CutSuffix(t, "*")
			if name == begins || more && strings.HasPrefix(name, begins) {
				return true
			}
		}
	}

	return false
}
