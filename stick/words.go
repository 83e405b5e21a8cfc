package stick

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Words are what tt itself says. An agent reads them as tt's own advice, so the text of somebody else must
// never pass for a part of them. It stands in them in two forms only, and neither can be ended from inside:
//
//   - a [Name] stands where the name belongs, in quotation marks unless it is plain
//   - a text stands last, in quotation marks, after the name of its author: see [Quote]
//
// [Wordsf] makes Words. Go refuses to join a string to them, so a caller can't put a text of others into them
// by accident.
type Words string

// Wordsf is [fmt.Sprintf] for our own words. It shows each argument as [Shown] says.
func Wordsf(format string, args ...any) Words {
	return Words(fmt.Sprintf(format, allShown(args)...))
}

// Shown returns an argument as our words show it. [Words], hints, commands, an [Error] and numbers stay as
// they are. Everything else is somebody's text, and becomes a [Name].
func Shown(arg any) any {
	switch v := arg.(type) {
	case nil, Name:
		return arg
	case Words:
		return string(v)
	case Hint:
		return v.String()
	case Command:
		return v.String()
	case *Error:
		return v.Message
	case error:
		if reflect.ValueOf(v).CanUint() { // a number of the system's, such as ENOSPC
			return v.Error()
		}
		return Name(v.Error())
	case string:
		return Name(v)
	}

	// Named types of strings, and all that could hold some, are somebody's text.
	switch reflect.ValueOf(arg).Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Struct, reflect.Pointer:
		return Name(fmt.Sprint(arg))
	}
	return arg // a number
}

func allShown(args []any) []any {
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = Shown(arg)
	}
	return shown
}

// Name is what somebody chose as a name: the path of a file, a branch, a pattern, a command line. In our
// words it stands as it is if it is plain, so that nobody could take a part of it for a word of ours.
// Otherwise it stands in quotation marks, with the escapes of a string in Go.
type Name string

// String returns the name as our words show it.
func (n Name) String() string {
	if n.isPlain() {
		return string(n)
	}
	return n.quoted()
}

// Format writes a name for fmt. The verb %q puts it into quotation marks in any case.
func (n Name) Format(f fmt.State, verb rune) {
	text := n.String()
	if verb == 'q' {
		text = n.quoted()
	}
	fmt.Fprintf(f, fmt.FormatString(f, 's'), text)
}

// Cut returns a name of at most most characters. If anything was cut off, the last one is an ellipsis.
func (n Name) Cut(most int) Name {
	if utf8.RuneCountInString(string(n)) <= most {
		return n
	}
	return Name([]rune(n)[:most-1]) + "…"
}

// plainMarks are the characters that a plain name may have beside letters and digits. A blank isn't among
// them: words need blanks.
const plainMarks = "/._-+,:@%=~#*?[]{}()!^$\\|&…"

// spacedScripts are those in which a sentence needs blanks. Elsewhere, a name could be one.
var spacedScripts = []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Mn}

// isPlain reports whether nothing in a name could be taken for the end of the name.
func (n Name) isPlain() bool {
	return utf8.ValidString(string(n)) && strings.IndexFunc(string(n), func(r rune) bool {
		isWord := r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) || unicode.In(r, spacedScripts...)
		return isUnseen(r) || strings.ContainsRune(otherMarks, r) || !isWord && !strings.ContainsRune(plainMarks, r)
	}) < 0
}

// quoted returns the name in quotation marks. What can't be seen is escaped, and so is the beginning of a
// tag.
func (n Name) quoted() string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range string(n) {
		rest := string(n)[i:]
		_, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, n[i])

		// strconv.Quote would print these as they are.
		case r > 0xffff && unicode.IsPrint(r) && (isUnseen(r) || strings.ContainsRune(otherMarks, r)):
			fmt.Fprintf(&b, `\U%08x`, r)
		case unicode.IsPrint(r) && isUnseen(r), r <= 0xffff && strings.ContainsRune(otherMarks, r), beginsTag(rest):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			q := strconv.Quote(string(r))
			b.WriteString(q[1 : len(q)-1])
		}
	}

	b.WriteByte('"')
	return b.String()
}

// Names lists names in our words: the first few of them, and how many there are beside them.
func Names[N ~string](all []N, most int) Words {
	shown := make([]string, 0, min(len(all), most))
	for _, n := range all[:min(len(all), most)] {
		shown = append(shown, Name(n).String())
	}

	list := Words(strings.Join(shown, ", "))
	if more := len(all) - len(shown); more > 0 {
		list += Wordsf(" and %d more", more)
	}

	return list
}

// Quote is what somebody wrote, for the end of a sentence that names its author: on one line, in at most most
// characters, and quoted by the rule for a [Name]. So a quotation mark or a tag in the text stands after a
// backslash, and the first mark without one is the end.
func Quote(text string, most int) Words {
	return Words(Name(strings.Map(plainMark, Clip(text, most))).quoted())
}

// otherMarks are what a reader could take for the quotation mark at the end of a quotation.
const otherMarks = "˝˶❠⁗｢｣﹃﹄﹁﹂《》“”„‟«»‹›″‶ʺˮ״＂〃〝〞〟「」『』❝❞❮❯⹂🙶🙷🙸"

// plainMark replaces a quotation mark of any script by that of Go, for a text, which needn't keep its marks as
// a name does.
func plainMark(r rune) rune {
	if strings.ContainsRune(otherMarks, r) {
		return '"'
	}
	return r
}

// Wrote is [Quote] after the name of the author, for the end of a sentence about somebody else.
func Wrote(by AgentID, text string, most int) Words {
	return AgentName(by) + " wrote: " + Quote(text, most)
}

// JoinWords joins words as [strings.Join] does strings.
func JoinWords(all []Words, between Words) (joined Words) {
	for i, w := range all {
		if i > 0 {
			joined += between
		}
		joined += w
	}

	return joined
}
