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
func Age(d time.Duration) Words {
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return Wordsf("%d s", d/time.Second)
	case d < time.Hour:
		return Wordsf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return Wordsf("%d h", d/time.Hour)
	default:
		return Wordsf("%d d", d/(24*time.Hour))
	}
}

// Ago is Age followed by "ago", or "just now".
func Ago(d time.Duration) Words {
	if d < time.Second {
		return "just now"
	}
	return Age(d) + " ago"
}

// Lasted writes how long something took, in two units at most: "0 s", "45 s", "12 min", "1 h 5 min", "2 d 3
// h".
func Lasted(d time.Duration) Words {
	units := []struct {
		long time.Duration
		name Words
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}}

	// The smaller unit is left out if nothing of it is left.
	for i, u := range units[:2] {
		if part := units[i+1]; d >= u.long {
			s := Wordsf("%d %s", d/u.long, u.name)
			if n := d % u.long / part.long; n > 0 {
				s += Wordsf(" %d %s", n, part.name)
			}
			return s
		}
	}

	if d >= time.Minute {
		return Wordsf("%d min", d/time.Minute)
	}

	return Wordsf("%d s", max(0, d/time.Second))
}

// Count names a number of things in English: "1 task", "2 tasks". Its plural is the word with an s.
func Count[N int | int64](n N, what Words) Words {
	if n != 1 {
		what += "s"
	}
	return Wordsf("%d %s", n, what)
}

// ShortDuration writes a duration without its zero parts: 45m rather than 45m0s.
func ShortDuration(d time.Duration) Words {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}

	return Words(s)
}

// Line makes text from an agent safe to print on one line of a terminal. Sequences that colour it are dropped;
// other control characters and runs of blanks become one space. Invalid UTF-8 becomes U+FFFD.
func Line(s string) string {
	s = strings.Map(dropIgnorable, strings.ToValidUTF8(dropSequences(s), "\uFFFD"))
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || drawnBlank(r)
	}), " ")
}

// longestSequence is how many characters a sequence has at most that is dropped as a whole.
const longestSequence = 24

// dropSequences removes what programs print to colour a text or to move the cursor: ESC [, digits and signs, and
// one letter. No words can be hidden in it.
func dropSequences(s string) string {
	const begin = "\x1b["
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(s, begin)
		b.WriteString(text)
		if !found {
			return b.String()
		}

		last := strings.IndexFunc(rest, func(r rune) bool { return r < ' ' || r > '?' })
		isWhole := last >= 0 && last < longestSequence && '@' <= rest[last] && rest[last] <= '~'
		if isWhole {
			s = rest[last+1:]
			continue
		}

		// What else begins like a sequence is shown.
		b.WriteString(begin)
		s = rest
	}
}

// drawnBlank reports whether a character that counts as a letter, a symbol or a separator is drawn as a
// blank.
func drawnBlank(r rune) bool {
	return unicode.Is(unicode.Zs, r) || strings.ContainsRune("\u115F\u1160\u2800\u3164\uFFA0", r)
}

// Path makes the path of a file, or a pattern of paths, safe to print on one line of a terminal. It stays as
// it is, each of its blanks included. One with characters that can't be seen, or with invalid UTF-8, is
// quoted, and these are named by their numbers: two different paths never look the same because of them.
func Path(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, isUnseen) < 0 {
		return s
	}

	// What can't be seen is named by its number, and the quotation can't be ended from inside.
	b := []byte{'"'}
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, s[0])
		case isUnseen(r), r == '"', r == '\\':
			quoted := strconv.QuoteToASCII(string(r))
			b = append(b, quoted[1:len(quoted)-1]...)
		default:
			b = utf8.AppendRune(b, r)
		}
		s = s[size:]
	}

	return string(append(b, '"'))
}

// isUnseen reports whether a reader can't see a character in a line, or takes it for another blank.
func isUnseen(r rune) bool {
	return !unicode.IsPrint(r) || r != ' ' && drawnBlank(r) || isIgnorable(r)
}

// isIgnorable reports whether a character counts as printable, and nobody draws it: a text of such characters
// could tell a program what no reader sees, or keep the tag of a harness from being known as one.
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// dropIgnorable is for [strings.Map]. What counts as a blank stays one.
func dropIgnorable(r rune) rune {
	if isIgnorable(r) && !drawnBlank(r) {
		return -1
	}
	return r
}

// Patch makes a diff safe to print on a terminal, and hides nothing of it: line breaks and tabs stay, and
// every other character that can't be seen is named by its number. Invalid UTF-8 becomes U+FFFD.
func Patch(s string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) && (!isIgnorable(r) || drawnBlank(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "<U+%04X>", r)
		}
	}

	return b.String()
}

// maxBlanks is how many columns of blanks are shown as they are. More of them could fill a line of the
// terminal, so that what follows stands at the start of the next one, where our own lines begin.
const maxBlanks = 40

// Block makes text from an agent safe to print on several lines of a terminal. Line breaks and tabs stay;
// sequences that colour it, and every other control character, are dropped. A long run of blanks is replaced by its length. Invalid UTF-8
// becomes U+FFFD.
func Block(s string) string {
	var b, blanks strings.Builder
	columns := 0 // of blanks

	// A run of blanks is written when its end is known.
	end := func() {
		if columns > maxBlanks {
			fmt.Fprintf(&b, "[%d blanks]", columns)
		} else {
			b.WriteString(blanks.String())
		}

		blanks.Reset()
		columns = 0
	}

	for _, r := range strings.ToValidUTF8(dropSequences(s), "\uFFFD") {
		switch {
		case r == '\t':
			blanks.WriteRune(r)
			columns += 8
		case drawnBlank(r):
			blanks.WriteByte(' ')
			columns++
		case r == '\n' || unicode.IsPrint(r) && !isIgnorable(r):
			end()
			b.WriteRune(r)
		}
	}

	end()
	return b.String()
}

// MaxReason is the largest reason in bytes.
const MaxReason = 4096

// NotText says what of s no text can hold. It is empty if there is nothing.
func NotText(s string) Words {
	switch {
	case !utf8.ValidString(s):
		return "bytes that aren't UTF-8 text"
	case strings.ContainsRune(s, 0):
		return "a NUL character"
	}
	return ""
}

// IsLeftBlank reports whether a text is the blank of a printed command, which nobody has filled: [Own], its
// three dots, or one name in angle brackets.
func IsLeftBlank(s string) bool {
	s = strings.TrimSpace(s)
	if s == Own || s == "..." {
		return true
	}

	name, opened := strings.CutPrefix(s, "<")
	name, closed := strings.CutSuffix(name, ">")
	return opened && closed && name != "" && !strings.ContainsAny(name, "<>\n")
}

// CheckReason refuses a reason that isn't text, is too long, or is the blank of a printed command. It fails
// with [CodeUsage].
func CheckReason(field, s string) error {
	switch bad := NotText(s); {
	case bad != "":
		return Errorf(CodeUsage, "the reason holds %s", bad).With("field", field)
	case IsLeftBlank(s):
		return Errorf(CodeUsage, "the reason is still a placeholder: %s", strings.TrimSpace(s)).
			With("field", field).Hintf("write why you do this in its place")
	case len(s) > MaxReason:
		return Errorf(CodeUsage, "the reason is %d bytes long; the limit is %d", len(s), MaxReason).With("field", field)
	}
	return nil
}

// shellWord quotes s as one word of a command line, and changes nothing of it. What can't be printed, or
// could be the beginning of a tag, is written by its bytes, which bash and zsh read.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return !drawnBlank(r) && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r))
	}

	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	if utf8.ValidString(s) &&
		strings.IndexFunc(s, isUnseen) < 0 && !hasTag(s) {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}

	// What a shell couldn't read inside plain quotation marks needs escapes.
	var b strings.Builder
	for i, r := range s {
		_, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r != '<' && unicode.IsPrint(r) && (r == ' ' || !drawnBlank(r)) && (r != utf8.RuneError || n > 1):
			b.WriteRune(r)
		default:
			for _, c := range []byte(s[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		}
	}

	return "$'" + b.String() + "'"
}

// hasTag reports whether a text holds what a reader could take for the beginning of a tag.
func hasTag(s string) bool {
	for i := range len(s) {
		if beginsTag(s[i:]) {
			return true
		}
	}
	return false
}

// beginsTag reports whether a text begins like a tag of any name.
func beginsTag(s string) bool {
	_, ok := TagAt(s)
	return ok
}

// TagAt returns the name of the tag with which a text begins, such as "div" for "</ div", without what nobody
// sees. The name is that mark for what begins with one, as "<!--", "<?xml" and "<|" do. ok is false
// if it isn't the beginning of a tag: blanks, and the escapes by which JSON writes them, may stand before the
// name.
func TagAt(s string) (name string, ok bool) {
	s, ok = strings.CutPrefix(s, "<")
	if !ok {
		return "", false
	}

	s = trimUnseen(s)
	if strings.IndexAny(s, "|!?") == 0 {
		return s[:1], true
	}

	s = strings.TrimPrefix(strings.TrimPrefix(s, `\/`), "/") // JSON may escape a slash
	for _, r := range trimUnseen(s) {
		switch {
		case isUnseen(r) && !unicode.IsSpace(r):
			continue
		case r != '_' && !unicode.IsLetter(r) && (name == "" || r != '-' && r != ':' && !unicode.IsDigit(r)):
			return name, name != ""
		}
		name += string(r)
	}

	return name, name != ""
}

// trimUnseen cuts off blanks and what nobody sees from the beginning of a text, also where JSON has escaped it.
func trimUnseen(s string) string {
	for {
		rest := strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || isUnseen(r) })
		rest = rest[lenOfEscapedBlank(rest):]
		if rest == s {
			return s
		}
		s = rest
	}
}

// lenOfEscapedBlank returns how long the JSON escape is with which a text begins, if it stands for a blank or
// another character that nobody sees; otherwise 0.
func lenOfEscapedBlank(s string) int {
	const short, long = len(`\n`), len(`\u0020`)
	if len(s) < short || s[0] != '\\' {
		return 0
	}
	if strings.IndexByte("bfnrt", s[1]) >= 0 {
		return short
	}
	if len(s) < long || s[1] != 'u' {
		return 0
	}

	n, err := strconv.ParseUint(s[short:long], 16, 32)
	if err != nil || !unicode.IsSpace(rune(n)) && !isUnseen(rune(n)) {
		return 0
	}
	return long
}

// Clip is Line cut to at most n runes. If anything was cut off, the last rune is an ellipsis.
func Clip(s string, n int) string {
	s = Line(s)
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
