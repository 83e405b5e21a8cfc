package stick

import (
	"fmt"
	"slices"
	"strings"
)

// Hint is the next safe step after a refusal: a sentence, of which the commands keep their words. So a
// test can run each command, and a client that has no shell can be told of its tools instead.
type Hint []Step

// Step is a part of a hint: plain words, or a command.
type Step struct {
	Text    string
	Command Command
}

// Command is a command line that a hint proposes, word by word.
type Command []Word

// Word is a word of a command. A blank has a name; its text is empty until somebody fills it.
type Word struct {
	Text  string
	Blank string
}

// Own is the blank for text that only the reader can write. It is printed as "…".
const Own = "…"

// Hintf makes a hint. Like [fmt.Sprintf] it replaces %s by its arguments, but a [Command] among them stays
// one, and another Hint becomes part of this one.
func Hintf(format string, args ...any) Hint {
	keeps := func(arg any) bool {
		switch arg.(type) {
		case Command, Hint:
			return true
		}
		return false
	}
	if !slices.ContainsFunc(args, keeps) {
		return Hint(nil).say(fmt.Sprintf(format, args...))
	}
	var h Hint
	for rest := format; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		h = h.say(before)
		if !found {
			break
		}
		verb, arg := "%"+after[:1], any(nil)
		rest = after[1:]
		if verb == "%%" {
			h = h.say("%")
			continue
		}
		arg, args = args[0], args[1:]
		switch arg := arg.(type) {
		case Command:
			h = append(h, Step{Command: arg})
		case Hint:
			for _, s := range arg {
				if h = h.say(s.Text); s.Command != nil {
					h = append(h, s)
				}
			}
		default:
			h = h.say(fmt.Sprintf(verb, arg))
		}
	}
	return h
}

// say adds plain words.
func (h Hint) say(text string) Hint {
	if text == "" {
		return h
	}
	if n := len(h); n > 0 && h[n-1].Command == nil {
		h[n-1].Text += text
		return h
	}
	return append(h, Step{Text: text})
}

// String is the hint as it is printed.
func (h Hint) String() string {
	var b strings.Builder
	for _, s := range h {
		b.WriteString(s.Text)
		b.WriteString(s.Command.String())
	}
	return b.String()
}

// fill fills the blanks of a name.
func (h Hint) fill(blank, text string) {
	for _, s := range h {
		for i, w := range s.Command {
			if w.Blank == blank && w.Text == "" {
				s.Command[i].Text = text
			}
		}
	}
}

// Cmd makes a command of its words, as in Cmd("tt msg send <agent> …", a). A word in angle brackets is a
// blank. The values fill the blanks from the left; those that are left over are filled by the facts of the
// error that the hint belongs to, where one has that name.
func Cmd(line string, values ...any) Command {
	var c Command
	for _, word := range strings.Fields(line) {
		w := Word{Text: word}
		if word == Own {
			w = Word{Blank: Own}
		} else if name, ok := strings.CutPrefix(word, "<"); ok {
			w = Word{Blank: strings.TrimSuffix(name, ">")}
			if len(values) > 0 {
				w.Text, values = fmt.Sprint(values[0]), values[1:]
			}
		}
		c = append(c, w)
	}
	return c
}

// String is the command as somebody could type it. A blank that nobody filled shows its name.
func (c Command) String() string {
	words := make([]string, len(c))
	for i, w := range c {
		switch {
		case w.Blank == "":
			words[i] = w.Text
		case w.Text != "":
			words[i] = shellWord(w.Text)
		case w.Blank == Own:
			words[i] = `"` + Own + `"`
		default:
			words[i] = "<" + w.Blank + ">"
		}
	}
	return strings.Join(words, " ")
}
