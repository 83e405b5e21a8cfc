package stick

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Age writes a duration as people say it: "just now", "12 s", "4 min", "3 h", "2 d".
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

// Ago is Age followed by "ago", or "just now".
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

// Line makes text from an agent safe to print on one line of a terminal. Control characters, such as the one
// that begins an escape sequence, and runs of blanks become one space. Invalid UTF-8 becomes U+FFFD.
func Line(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}

// Path makes the path of a file safe to print on one line of a terminal. It stays as it is, each of its blanks included.
// One with control characters or invalid UTF-8 is quoted.
func Path(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// Patch makes a diff safe to print on a terminal, and hides nothing of it: line breaks and tabs stay, and every other
// character that can't be seen is named by its number. Invalid UTF-8 becomes U+FFFD.
func Patch(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}
	return b.String()
}

// Block makes text from an agent safe to print on several lines of a terminal. Line breaks and tabs stay;
// every other control character is dropped. Invalid UTF-8 becomes U+FFFD.
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

// checkReason refuses a reason that isn't text or is too long. It fails with [CodeUsage].
func checkReason(field, s string) error {
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		return Errorf(CodeUsage, "the reason holds bytes that aren't UTF-8 text").With("field", field)
	case len(s) > maxReason:
		return Errorf(CodeUsage, "the reason has %d bytes; at most %d fit", len(s), maxReason).With("field", field)
	}
	return nil
}

// shellWord quotes s as one word of a command line.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(Line(s), "'", `'\''`) + "'"
}

// clip is Line cut to at most n runes. If anything was cut off, the last rune is an ellipsis.
func clip(s string, n int) string {
	s = Line(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Clip makes s a single line of at most n characters; the last one is an ellipsis if it had to be cut.
func Clip(s string, n int) string { return clip(s, n) }
