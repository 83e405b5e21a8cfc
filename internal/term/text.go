// Package term is text on a terminal: which text is safe there, how many columns it needs, and how it is cut
// and broken to fit.
package term

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"talkingstick/stick"
)

// Text is text that is safe for a terminal: nothing in it moves the cursor, hides what follows, or looks like
// the start of another line. It is made by the functions of this package, of which each makes text of others
// safe in its own way.
type Text string

// Textf is [fmt.Sprintf] for text that is shown. It makes each argument one safe line by [stick.Line], unless
// it is a [Text], or a number.
func Textf(format string, args ...any) Text {
	safe := make([]any, len(args))
	for i, arg := range args {
		safe[i] = safeArgument(arg)
	}

	return Text(fmt.Sprintf(format, safe...))
}

// Wordsf is [fmt.Sprintf] for the words of tt itself, as [stick.Wordsf] is: only a [Text] and [stick.Words]
// stand in it as they are, and any other text as a name that can't be taken for a part of them.
func Wordsf(format string, args ...any) Text {
	shown := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case Text:
			shown[i] = string(v)
		case stick.Words:
			shown[i] = safePart(string(v))
		default:
			shown[i] = stick.Shown(arg)
		}
	}

	return Text(fmt.Sprintf(format, shown...))
}

func safeArgument(arg any) any {
	switch v := arg.(type) {
	case Text, int, int64, time.Duration:
		return v
	case string:
		return safePart(v)
	}

	switch reflect.ValueOf(arg).Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Bool, reflect.Float64:
		return arg
	}
	return safePart(fmt.Sprint(arg))
}

// safePart is [stick.Line] for a part of a line: a blank at its start or end separates it from what stands there.
func safePart(s string) string {
	line := stick.Line(s)
	if strings.HasPrefix(s, " ") {
		line = " " + line
	}
	if strings.HasSuffix(s, " ") && line != " " {
		line += " "
	}
	return line
}

// Path is the name of a file or a branch, as [stick.Path] shows it.
func Path(s string) Text { return Text(stick.Path(s)) }

// Block is text of several lines, as [stick.Block] shows it.
func Block(s string) Text { return Text(stick.Block(s)) }

// SourceLine is a line of a file that others wrote. Unlike [Textf], it keeps its blanks.
func SourceLine(line string) Text { return Text(stick.Patch(line)) }

// Hint is a next step. Its commands stay as they are to be typed, each blank included: their words are quoted
// where that is needed.
func Hint(h stick.Hint) (out Text) {
	for _, s := range h {
		out += Textf("%s", s.Text) + Text(stick.Path(s.Command.String()))
	}
	return out
}

// BreakLine breaks a line into parts of at most this many columns; 0 means any number. It takes a tab for
// eight columns and a character beyond ASCII for two, which is as much as a terminal needs for them.
func BreakLine(line Text, columns int) []Text {
	var parts []Text
	start, at := 0, 0
	for i, r := range line {
		wide := 1
		switch {
		case r == '\t':
			wide = 8
		case r >= utf8.RuneSelf:
			wide = 2
		}

		if columns > 0 && at > 0 && at+wide > columns {
			parts, start, at = append(parts, line[start:i]), i, 0
		}
		at += wide
	}

	return append(parts, line[start:])
}

// BreakWords breaks a line as [BreakLine] does, but after a blank where one is in the second half of the room,
// so that words stay whole. It drops the one blank that a break replaces.
func BreakWords(line Text, columns int) []Text {
	var parts []Text
	for {
		broken := BreakLine(line, columns)
		if len(broken) == 1 {
			return append(parts, line)
		}

		part := broken[0]
		isWhole := line[len(part)] == ' '
		if at := strings.LastIndexByte(string(part), ' '); !isWhole && at > len(part)/2 {
			part = part[:at+1]
		}

		// The blank at a break shows nothing at the start of the next part.
		parts = append(parts, part)
		line = line[len(part):]
		if isWhole && len(line) > 1 {
			line = line[1:]
		}
	}
}
