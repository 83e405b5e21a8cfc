package web

import (
	"strings"

	"talkingstick/stick"
	"talkingstick/stick/names"
)

// spokenAttributes are those whose values people read or hear.
var spokenAttributes = []string{` aria-label="`, ` title="`, ` data-said="`, ` data-need="`}

// showNames returns HTML that our templates made with what people call agents in place of their ids. It changes
// what people read, and no link or value of a form. What somebody else wrote stays as it is: elements for code
// and output, and those of the class text.
func showNames(html string, nameOf func(stick.AgentID) string) string {
	var shown strings.Builder
	for html != "" {
		// The templates escape both brackets, so each of them belongs to a tag.
		text, rest, isTag := strings.Cut(html, "<")
		shown.WriteString(showNamesInText(text, nameOf))
		if !isTag {
			break
		}

		tag, after, _ := strings.Cut(rest, ">")
		shown.WriteString("<" + showSpokenNames(tag, nameOf) + ">")
		html = after

		if end := strings.Index(html, "</"+tagName(tag)); isQuoting(tag) && end >= 0 {
			shown.WriteString(html[:end])
			html = html[end:]
		}
	}

	return shown.String()
}

// quotationMark is how the templates escape one. Between two of them stands what somebody else wrote.
const quotationMark = "&#34;"

// showNamesInText is [showNames] for text without tags.
func showNamesInText(text string, nameOf func(stick.AgentID) string) string {
	parts := strings.Split(text, quotationMark)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = names.Show(parts[i], nameOf)
	}
	return strings.Join(parts, quotationMark)
}

// showSpokenNames is [showNames] for the attributes of a tag.
func showSpokenNames(tag string, nameOf func(stick.AgentID) string) string {
	for _, attribute := range spokenAttributes {
		before, rest, found := strings.Cut(tag, attribute)
		if !found {
			continue
		}

		value, after, _ := strings.Cut(rest, `"`)
		tag = before + attribute + showNamesInText(value, nameOf) + `"` + after
	}
	return tag
}

// isQuoting reports whether a tag begins an element that holds what somebody else wrote.
func isQuoting(tag string) bool {
	switch tagName(tag) {
	case "pre", "code", "textarea":
		return true
	}
	return strings.Contains(tag, `class="text`)
}

func tagName(tag string) string {
	name, _, _ := strings.Cut(tag, " ")
	return name
}
