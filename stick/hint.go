package stick

import (
	"fmt"
	"slices"
	"strings"
)

// Hint is the next safe step after a refusal: a sentence in which each command keeps its words apart. So a
// test can run the commands, and a surface can name its tools instead to a client without a shell.
type Hint []Step

// Step is a part of a hint: plain words, or a command.
type Step struct {
	Text    Words
	Command Command
}

// Command is a command line that a hint proposes, word by word.
type Command []Word

// Word is a word of a command. A blank is a word that has a name; its text is empty until it is filled.
type Word struct {
	Text  string
	Blank string
}

// Own is the blank for a text that the reader has to write. It is printed as "…".
const Own = "…"

// Hintf makes a hint. It formats like [Wordsf], but a [Command] among the arguments stays a command, and a
// Hint among them becomes part of the new hint.
func Hintf(format string, args ...any) Hint {
	keeps := func(arg any) bool {
		switch arg.(type) {
		case Command, Hint:
			return true
		}
		return false
	}

	// Without a command the whole is words: fmt knows all verbs, the loop below only short ones.
	if !slices.ContainsFunc(args, keeps) {
		return Hint(nil).appendWords(Wordsf(format, args...))
	}

	var h Hint
	for rest := format; rest != ""; {
		before, after, found := strings.Cut(rest, "%")
		h = h.appendWords(Words(before))
		if !found {
			break
		}

		// A verb is one character here: the hints of this program use no others.
		verb, arg := "%"+after[:1], any(nil)
		rest = after[1:]
		if verb == "%%" {
			h = h.appendWords("%")
			continue
		}

		arg, args = args[0], args[1:]
		switch arg := arg.(type) {
		case Command:
			h = append(h, Step{Command: arg})
		case Hint:
			for _, s := range arg {
				if h = h.appendWords(s.Text); s.Command != nil {
					h = append(h, s)
				}
			}
		default:
			h = h.appendWords(Wordsf(verb, arg))
		}
	}

	return h
}

// appendWords appends plain words.
func (h Hint) appendWords(text Words) Hint {
	if text == "" {
		return h
	}

	// Words that follow words are one step.
	if n := len(h); n > 0 && h[n-1].Command == nil {
		h[n-1].Text += text
		return h
	}

	return append(h, Step{Text: text})
}

// HasCommand reports whether the hint proposes a command.
func (h Hint) HasCommand() bool {
	return slices.ContainsFunc(h, func(s Step) bool { return s.Command != nil })
}

// As returns the hint with the flag --as in each command of tt, for a reader that acts under a name by that
// flag. Without it, the command would be somebody else's. Without a name, the hint stays as it is.
func (h Hint) As(name string) Hint {
	out := slices.Clone(h)
	for i, s := range out {
		out[i].Command = s.Command.As(name)
	}
	return out
}

// As returns the command with the flag --as, if it is one of tt that acts. See [Hint.As].
func (c Command) As(name string) Command {
	if name == "" || len(c) == 0 || c[0].Text != "tt" || c[len(c)-1].Text == "--help" {
		return c
	}
	return append(slices.Clone(c), Word{Text: "--as"}, Word{Text: name, Blank: "agent"})
}

// At returns the hint with the flag --path in each command of tt, for a reader that is in another place than
// the room of path.
func (h Hint) At(path string) Hint {
	out := slices.Clone(h)
	for i, s := range out {
		if c := s.Command; len(c) > 0 && c[0].Text == "tt" && c[len(c)-1].Text != "--help" {
			out[i].Command = append(slices.Clone(c), Word{Text: "--path"}, Word{Text: path, Blank: "directory"})
		}
	}

	return out
}

// String returns the hint as it is printed.
func (h Hint) String() string {
	var b strings.Builder
	for _, s := range h {
		b.WriteString(string(s.Text))
		b.WriteString(s.Command.String())
	}
	return b.String()
}

// Words returns the hint as it is printed, as words of ours.
func (h Hint) Words() Words { return Words(h.String()) }

// fillBlank fills the empty blanks that have a name.
func (h Hint) fillBlank(blank, text string) {
	for _, s := range h {
		for i, w := range s.Command {
			if w.Blank == blank && w.Text == "" {
				s.Command[i].Text = text
			}
		}
	}
}

// Cmd makes a command from its words, as in Cmd("tt msg send <agent> …", a). A word in angle brackets is a
// blank. The values fill the blanks from the left. A fact of the error that the hint belongs to fills the
// remaining blanks of its name.
func Cmd(line string, values ...any) Command {
	var c Command
	for _, word := range strings.Fields(line) {
		w := Word{Text: word}

		// What only the reader can write stays a blank.
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

// Words returns the command as somebody would type it, as words of ours: what others chose is quoted for the
// shell.
func (c Command) Words() Words { return Words(c.String()) }

// String returns the command as somebody would type it. An empty blank shows its name.
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
