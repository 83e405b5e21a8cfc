package stick

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Age gives a duration as people say it: "just now", "12 s", "4 min", "3 h", "2 d".
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	}
}

// Ago is Age with "ago" where it fits.
func Ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return Age(d) + " ago"
}

// shortDuration writes a duration without its zero parts: 45m rather than 45m0s.
func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Line makes text from an agent fit for one line on a terminal: control characters and the
// start of escape sequences become spaces, runs of blanks one blank, invalid UTF-8 is marked.
func Line(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// Block makes text from an agent fit for several lines on a terminal: line breaks and tabs stay,
// every other control character is dropped.
func Block(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == ' ' || unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

// maxReason is the largest reason in bytes.
const maxReason = 4096

// checkReason refuses a reason that can't be kept as text, or that is too long for one, with
// [CodeUsage].
func checkReason(field, s string) error {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return Errorf(CodeUsage, "the reason holds bytes that aren't UTF-8 text").With("field", field)
	case len(s) > maxReason:
		return Errorf(CodeUsage, "the reason has %d bytes; at most %d fit", len(s), maxReason).With("field", field)
	}
	return nil
}

// shellWord writes s as one word of a command line, for commands that are proposed.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(Line(s), "'", `'\''`) + "'"
}

// clip is Line cut to at most n runes, the last of which is then an ellipsis.
func clip(s string, n int) string {
	s = Line(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Clip makes s a single line of at most n characters.
func Clip(s string, n int) string { return clip(s, n) }
