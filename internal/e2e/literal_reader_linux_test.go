package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// literalReader is an agent without judgement. It does what tt's own words tell it, and runs each command that stands among them. What stands
// in a frame or in quotation marks is somebody else's, and moves it to nothing. It runs a printed command once as it stands, with its
// blanks, and fills them only when that was refused.
type literalReader struct {
	name string
	work []string // the files that it still has to write, one in each of its turns
	plan []deed   // what it does next, in this order

	didRun  map[string]bool // the commands that it has run since its turn began or ended
	told    string          // what it has read last
	holds   bool            // it has the turn
	lastRun string          // its last wait, which it repeats
	wrote   string          // the file of this turn
	turns   []literalTurn
	watch   time.Duration // for so long it waits on, once it has no work left
	waited  time.Duration // how long it has waited for nothing, by the clock of the test
	refused []string      // the answers that found a blank in what it said
	waitsOn bool          // it waits for the turn where it is told to wait for messages alone

	hasWaited atomic.Bool // for the turn, which others look at meanwhile
}

// literalTurn is a turn of a reader, and the file that it wrote in it, if it had one to write.
type literalTurn struct {
	line, wrote string
}

// deed is one thing that a reader does: a command, or a file that it writes.
type deed struct {
	args []string
	file string
}

// waitLimit is how long a harness lets a command run, as the skill has it.
const waitLimit = 100 * time.Second

// watchTime is how long a reader without work is watched.
const watchTime = 10 * time.Minute

// skillSays are the sentences of the skill by which a reader begins, and repeats its waits.
var skillSays = []string{
	"run `tt session start` before anything else",
	"2. Run `tt wait`",
	"repeat\n   `tt wait --timeout 100s`",
	"5. More to do? Run what `tt release` names, without asking. Otherwise `tt wait --park`, for messages only, or stop.",
}

func newLiteralReader(name string, watch time.Duration, work ...string) *literalReader {
	r := &literalReader{name: name, watch: watch, work: work, didRun: map[string]bool{}}
	r.plan = []deed{{args: []string{"session", "start"}}, {args: []string{"wait"}}}
	return r
}

// read takes in what tt says, and plans what it is told to do.
func (r *literalReader) read(text string) {
	r.told = text
	own := ownLines(text)
	for _, line := range own {
		r.noteTurn(line)
	}

	if r.holds && len(r.work) > 0 && r.wrote == "" {
		r.wrote, r.work = r.work[0], r.work[1:]
		r.turns[len(r.turns)-1].wrote = r.wrote
		r.plan = append([]deed{{file: r.wrote}}, r.plan...)
	}

	for _, line := range own {
		for _, o := range ordersIn(line) {
			if r.heeds(o) {
				r.planCommand(o.args)
			}
		}
	}
}

// noteTurn notes the beginning and the end of a turn, and that a blank was refused.
func (r *literalReader) noteTurn(line string) {
	switch {
	case strings.HasPrefix(strings.TrimPrefix(line, "still "), "your turn, turn ") && !r.holds:
		r.holds, r.wrote = true, ""
		r.turns = append(r.turns, literalTurn{line: line})
		r.forgetCommands()

	case strings.HasPrefix(line, "you released turn "), strings.Contains(line, " took over the stick from "+r.name):
		r.holds = false
		r.forgetCommands()
	case strings.HasPrefix(line, "tt: ") && strings.Contains(line, "is still a placeholder"):
		r.refused = append(r.refused, line)
	}
}

// forgetCommands has the reader run again what it has run before: its situation is another one.
func (r *literalReader) forgetCommands() {
	clear(r.didRun)
	r.plan = slices.DeleteFunc(r.plan, func(s deed) bool { return s.file == "" })
}

// heeds reports whether the condition of an order holds.
func (r *literalReader) heeds(o order) bool {
	hasMore := len(r.work) > 0
	switch {
	case strings.HasSuffix(o.before, "more to do: "), strings.HasPrefix(o.after, " before you change files"):
		return hasMore
	case strings.HasSuffix(o.before, "nothing more: "):
		return !hasMore
	case strings.HasSuffix(o.before, "otherwise keep waiting: "), strings.HasSuffix(o.before, "End with "):
		return false
	case strings.HasSuffix(o.before, "if the next step is theirs: "):
		return false
	}

	return true
}

// planCommand plans a command, once in each situation. A wait comes last, and there is only one.
func (r *literalReader) planCommand(args []string) {
	line := strings.Join(args, " ")
	if args[0] == "wait" {
		if r.waitsOn {
			args = []string{"wait"}
		}
		r.plan = slices.DeleteFunc(r.plan, isWait)
		r.plan = append(r.plan, deed{args: args})
		return
	}

	if r.didRun[line] {
		line, args = line+" (filled)", r.fillBlanks(args)
	}
	if r.didRun[line] {
		return
	}

	r.didRun[line] = true
	at := len(r.plan)
	if i := slices.IndexFunc(r.plan, isWait); i >= 0 {
		at = i
	}
	r.plan = slices.Insert(r.plan, at, deed{args: args})
}

func isWait(s deed) bool { return len(s.args) > 0 && s.args[0] == "wait" }

// fillBlanks puts the reader's own words where a printed command leaves a blank.
func (r *literalReader) fillBlanks(args []string) []string {
	words := "There was nothing to do for me."
	if r.wrote != "" {
		words = fmt.Sprintf("I wrote %s, and have %d files left.", r.wrote, len(r.work))
	}

	filled := slices.Clone(args)
	for i, a := range filled {
		if isBlank(a) {
			filled[i] = words
		}
	}

	return filled
}

// isBlank reports whether a word is a blank of a printed command.
func isBlank(word string) bool {
	word = strings.TrimSpace(word)
	return word == "…" || word == "..." || blankName.MatchString(word)
}

var blankName = regexp.MustCompile(`^<[^<> ]+>$`)

// nextStep returns what the reader does next; ok is false when it would stop. Where tt has told it nothing new, it repeats its last wait.
func (r *literalReader) nextStep() (s deed, ok bool) {
	if len(r.plan) == 0 && r.lastRun != "" && !r.holds {
		r.plan = append(r.plan, deed{args: strings.Fields(r.lastRun)})
	}
	if len(r.plan) == 0 || isWait(r.plan[0]) && r.isWatchOver() {
		return deed{}, false
	}

	s, r.plan = r.plan[0], r.plan[1:]
	if isWait(s) {
		r.lastRun = strings.Join(s.args, " ")
	}
	return s, true
}

// isWatchOver reports whether the reader has no work left, and has waited for long enough.
func (r *literalReader) isWatchOver() bool { return len(r.work) == 0 && r.waited >= r.watch }

// isEmptyWait reports whether a wait has brought nothing.
func isEmptyWait(told string) bool {
	return strings.HasPrefix(told, "it isn't your turn yet") || strings.HasPrefix(told, "nothing is new for you")
}

// order is a command in tt's own words, with the words around it in its sentence.
type order struct {
	before, after string
	args          []string // without the name of the program
}

// framedLine matches a line of a frame.
var framedLine = regexp.MustCompile(`^( |>( |$)|\|( |$))`)

// namesFrame matches a line after which a frame stands, because it says whose text that is.
var namesFrame = regexp.MustCompile(`:$|\bfrom \S+|\bwrote\b|^Indented lines`)

// ownLines returns the lines of a text that are tt's own: all but those in frames.
func ownLines(text string) (own []string) {
	head := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if framedLine.MatchString(line) && namesFrame.MatchString(head) {
			continue
		}

		own = append(own, line)
		if strings.HasPrefix(line, "Indented lines") || !strings.HasPrefix(head, "Indented lines") {
			head = line
		}
	}

	return own
}

// programsHeeded are the programs that a reader runs when it is told to. The second is the one that strangers want it to run.
var programsHeeded = []string{"tt ", "touch "}

// ordersIn returns the commands in a line that don't stand in quotation marks.
func ordersIn(line string) (all []order) {
	begin := 0
	for i := 0; i < len(line); {
		if line[i] == '"' {
			i += quotedLength(line[i:])
			continue
		}

		isStart := i == 0 || strings.IndexByte(" `(", line[i-1]) >= 0
		if !isStart ||
			!slices.ContainsFunc(programsHeeded, func(p string) bool { return strings.HasPrefix(line[i:], p) }) {
			i++
			continue
		}

		words, end := commandWords(line[i:])
		if words[0] == "tt" {
			words = words[1:]
		}
		if len(words) > 0 {
			all = append(all, order{before: line[begin:i], after: line[i+end:], args: words})
		}
		i += end
		begin = i
	}

	return all
}

// quotedLength returns the length of the quotation with which a text begins.
func quotedLength(text string) int {
	if q, err := strconv.QuotedPrefix(text); err == nil {
		return len(q)
	}
	return 1
}

// groups are the commands whose next word is a command, too.
var groups = []string{"session", "msg", "notes", "task", "handoff", "changes", "policy", "rescue"}

// commandWords splits the command with which a text begins into its words. It ends where the sentence goes on. end is its length.
func commandWords(text string) (words []string, end int) {
	for end < len(text) {
		word, length := nextWord(text[end:])
		plain := strings.TrimRight(word, ".,;:)`")
		isQuoted := strings.ContainsAny(text[end:end+1], `"'<`)
		if len(words) > 0 && !isQuoted && !belongsToCommand(words, plain) {
			return words, end - 1
		}

		if isQuoted || plain == word {
			words, end = append(words, word), end+length+1
			continue
		}

		return append(words, plain), end + len(plain)
	}

	return words, len(text)
}

// nextWord returns the first word of a text, without its quotation marks, and how much of the text it takes.
func nextWord(text string) (word string, length int) {
	if q, err := strconv.QuotedPrefix(text); err == nil && text[0] == '"' {
		word, _ = strconv.Unquote(q)
		return word, len(q)
	}

	if text[0] == '\'' {
		if end := strings.IndexByte(text[1:], '\''); end >= 0 {
			return text[1 : end+1], end + 2
		}
	}

	word, _, _ = strings.Cut(text, " ")
	return word, len(word)
}

// belongsToCommand reports whether a plain word goes on with a command, and isn't the next word of the sentence.
func belongsToCommand(words []string, word string) bool {
	isName := len(words) == 1 || len(words) == 2 && slices.Contains(groups, words[1])
	return isName && word != "" ||
		strings.HasPrefix(word, "--") ||
		strings.ContainsAny(word, "0123456789:/…") ||
		word == "room" ||
		word == "next"
}
