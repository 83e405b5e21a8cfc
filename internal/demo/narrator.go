package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"talkingstick/stick"
)

// Report is the record of a scene.
type Report struct {
	OK      bool    `json:"ok"`               // every claim was true
	Failed  string  `json:"failed,omitempty"` // why the scene failed
	Scratch string  `json:"scratch_directory"`
	Kept    bool    `json:"kept"`
	Pages   string  `json:"pages_url,omitempty"` // let one browser see the scene while it was played
	TookMS  float64 `json:"took_ms"`
	Steps   []Step  `json:"steps"`
}

// Step is a part of the scene.
type Step struct {
	Title   string   `json:"title"`
	Why     string   `json:"why"`   // why the step matters
	AtMS    float64  `json:"at_ms"` // since the beginning
	Actions []Action `json:"acts"`
	Checks  []Check  `json:"claims"`

	lines int // how many the narration printed, as if none were broken
}

// Action is something that an actor did, or that happened to it.
type Action struct {
	Who     string   `json:"who"`
	Dir     string   `json:"directory,omitempty"` // below the repository; absent for its top
	Command string   `json:"command,omitempty"`
	Note    string   `json:"note,omitempty"`
	Exit    *int     `json:"exit,omitempty"` // absent while it runs
	TookMS  float64  `json:"took_ms,omitempty"`
	Output  []string `json:"output,omitempty"`

	lines []string // the narration shows lines of Output that hold one of these; nil for all
}

// Check is a claim of a step, and whether it was true.
type Check struct {
	Text string `json:"claim"`
	OK   bool   `json:"ok"`
	Saw  string `json:"saw,omitempty"` // what was seen instead
}

// narrator prints a scene for people while it runs, and records it in the report.
type narrator struct {
	out    io.Writer // nil for none
	color  bool
	width  int                                        // where lines are broken
	pause  func(context.Context, time.Duration) error // between steps; nil for none
	began  time.Time                                  // without the pauses
	report Report
	begins func(step int, title string) // called when a step begins; nil for nobody
}

func newNarrator(cfg Config) *narrator {
	width := maxWidth
	if cfg.Columns > 0 {
		width = max(minWidth, min(width, cfg.Columns))
	}
	return &narrator{
		out: cfg.Out, color: cfg.Color, width: width, pause: cfg.Pause, begins: cfg.Watch.Title,
		began: time.Now(), report: Report{Steps: []Step{}},
	}
}

// Lines are broken at the width of the terminal, if that is between these. Longer ones are hard to read, and
// shorter ones have no room beside the names of actors.
const (
	maxWidth = 110
	minWidth = 40
)

// A reader needs so long for a line of a step, and for a step.
const (
	lineTime = 450 * time.Millisecond
	stepTime = 3 * time.Second
)

// colors are the colours of the actors.
var colors = map[string]string{
	"claude": "33", "codex": "36", "gemini": "35", "opencode": "34", "qwen": "32", Person: "1",
}

// nameWidth is how wide the longest name of an actor is.
var nameWidth = len(slices.MaxFunc(Actors, func(a, b string) int { return len(a) - len(b) }))

// printText prints a text in a colour. What doesn't fit on a line goes on below first, by as many blanks as
// first is wide.
func (n *narrator) printText(first, hue, text string) {
	n.printHanging(first, utf8.RuneCountInString(first), hue, text)
}

// printHanging prints a text in a colour behind first, which takes indent columns. Further lines begin below
// the text.
func (n *narrator) printHanging(first string, indent int, hue, text string) {
	if n.out == nil {
		return
	}

	for _, line := range breakText(text, n.width-indent) {
		fmt.Fprintln(n.out, strings.TrimRight(first+n.paintText(hue, line), " "))
		first = strings.Repeat(" ", indent)
	}

	// A text that is broken for a narrow terminal is no longer to read.
	if len(n.report.Steps) > 0 {
		n.currentStep().lines++
	}
}

func (n *narrator) paintText(hue, s string) string {
	if !n.color || hue == "" {
		return s
	}
	return "\x1b[" + hue + "m" + s + "\x1b[0m"
}

// beginStep begins a step. Before each but the first it pauses, and fails as the pause does. If somebody may
// watch in a browser, it pauses before the first one, too, until they are there.
func (n *narrator) beginStep(ctx context.Context, title, why string) error {
	switch {
	case len(n.report.Steps) > 0:
		if err := n.pauseFor(ctx, n.readingTime()); err != nil {
			return err
		}
	case n.report.Pages != "":
		if err := n.pauseFor(ctx, 0); err != nil {
			return err
		}
	}

	at := time.Since(n.began)
	n.report.Steps = append(n.report.Steps, Step{
		Title: title, Why: why, AtMS: milliseconds(at), Actions: []Action{}, Checks: []Check{},
	})
	if n.begins != nil {
		n.begins(len(n.report.Steps), title)
	}

	n.printText("", "", "")
	n.printText("", "1", fmt.Sprintf("%d. %s", len(n.report.Steps), title))
	return nil
}

// pauseFor pauses for as long as a reader needs, or with 0 until they go on. The time of a pause isn't the
// scene's.
func (n *narrator) pauseFor(ctx context.Context, reading time.Duration) error {
	if n.pause == nil {
		return nil
	}

	paused := time.Now()
	defer func() { n.began = n.began.Add(time.Since(paused)) }()
	return n.pause(ctx, reading)
}

// readingTime returns how long a reader needs for the current step.
func (n *narrator) readingTime() time.Duration {
	return max(stepTime, time.Duration(n.currentStep().lines)*lineTime)
}

// currentStep returns the current step.
func (n *narrator) currentStep() *Step { return &n.report.Steps[len(n.report.Steps)-1] }

// showAction prints and records an action.
func (n *narrator) showAction(d Action) {
	n.currentStep().Actions = append(n.currentStep().Actions, d)

	who := n.paintText(colors[d.Who], fmt.Sprintf("%*s", nameWidth, d.Who))
	if d.Command != "" {
		n.printHanging(who+" $ ", nameWidth+3, "", d.shownCommand())
	}

	if d.Note != "" {
		n.printHanging(who+"   ", nameWidth+3, "", d.Note)
	}

	for _, l := range d.Output {
		if d.lines == nil || slices.ContainsFunc(d.lines, func(part string) bool { return strings.Contains(l, part) }) {
			n.printText(strings.Repeat(" ", nameWidth)+" | ", "2", l)
		}
	}
}

// shownCommand returns the command as the narration shows it, with how it ended.
func (d Action) shownCommand() string {
	text := d.Command
	if d.Dir != "" {
		text = "cd " + d.Dir + " && " + text
	}

	switch {
	case d.Exit == nil && d.Note == "":
		return text + "   … blocked"
	case d.Exit != nil && *d.Exit != 0:
		return fmt.Sprintf("%s   (exit %d)", text, *d.Exit)
	}
	return text
}

// missingLine returns the first text for which the output has no line; empty if it has all.
func (d Action) missingLine() string {
	for _, part := range d.lines {
		if !slices.ContainsFunc(d.Output, func(l string) bool { return strings.Contains(l, part) }) {
			return part
		}
	}
	return ""
}

// checkClaim prints and records a claim. If the claim isn't true, it returns the error that ends the scene.
func (n *narrator) checkClaim(ok bool, saw string, format string, args ...any) error {
	c := Check{Text: fmt.Sprintf(format, args...), OK: ok}
	if !ok {
		c.Saw = saw
	}

	n.currentStep().Checks = append(n.currentStep().Checks, c)
	indent := nameWidth + 3
	before := strings.Repeat(" ", indent-2)
	if ok {
		n.printHanging(before+n.paintText("32", "✓")+" ", indent, "", c.Text)
		return nil
	}

	n.printHanging(before+n.paintText("31", "✗")+" ", indent, "", c.Text)
	return fmt.Errorf("this isn't true: %s (instead: %s)", c.Text, stick.Clip(saw, 300))
}

// showWhy prints why the current step matters.
func (n *narrator) showWhy() {
	n.printText(strings.Repeat(" ", nameWidth+3), "3", "Why: "+n.currentStep().Why)
}

// finish prints and records how the scene ended.
func (n *narrator) finish(err error) {
	took := time.Since(n.began)
	n.report.TookMS, n.report.OK = milliseconds(took), err == nil

	if err != nil {
		n.report.Failed = err.Error()
		return
	}

	claims := 0
	for _, s := range n.report.Steps {
		claims += len(s.Checks)
	}

	left := "nothing is left behind"
	if n.report.Kept {
		left = "the files are kept in " + n.report.Scratch
	}

	n.printText("", "", "")
	n.printText("", "1;32", fmt.Sprintf("It all happened. tt checked %d claims in %.1f s of work. "+
		"All processes have ended, and %s.", claims, took.Seconds(), left))
	n.printText("", "", "You saw a handoff, a refused command, lost work that came back, a crash, and a task that you let land.")
	n.printText("", "", "Next, in one of your own repositories: run tt init, start your agents as always, and watch them with tt watch.")
}

// breakText breaks a text between words into lines of at most so many columns. A word that is longer has a
// line of its own. Further lines are indented like the first.
func breakText(text string, columns int) []string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	lines, line := []string(nil), indent

	for i, word := range strings.Split(text[len(indent):], " ") {
		joined := line + word
		if i > 0 {
			joined = line + " " + word
		}
		if utf8.RuneCountInString(joined) <= columns || line == indent {
			line = joined
			continue
		}
		lines, line = append(lines, line), indent+word
	}
	return append(lines, line)
}

// milliseconds returns d in milliseconds, rounded to a hundredth.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Millisecond)*100) / 100
}
