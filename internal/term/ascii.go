package term

import (
	"strings"
	"unicode/utf8"
)

// plainer are the characters of our own texts beyond ASCII, each with what stands for it without UTF-8.
var plainer = strings.NewReplacer(
	"…", "...", "→", "->", "−", "-", "–", "-", "×", "x", "“", `"`, "”", `"`, "·", "*", "│", "|", "─", "-", "█", "#",
)

// ASCII returns text for a terminal that shows no UTF-8. What it can't show becomes a question mark.
func ASCII(text string) string {
	isPlain := true
	for i := range len(text) {
		isPlain = isPlain && text[i] < utf8.RuneSelf
	}
	if isPlain {
		return text
	}

	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, plainer.Replace(text))
}

// ASCIIColumns is like [ASCII] for text in columns: each character becomes one.
func ASCIIColumns(text string) string {
	return ASCII(oneColumn.Replace(text))
}

// oneColumn has a single character where the plainer one is longer.
var oneColumn = strings.NewReplacer("…", "~", "→", ">")

// IsUTF8 reports whether a terminal shows UTF-8, by the variables of the locale. Without any, it is taken to:
// that is so in most containers, and on most systems without a locale.
func IsUTF8(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}
