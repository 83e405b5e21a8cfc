package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

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
	AtMS    float64  `json:"at_ms"` // since the beginning
	Actions []Action `json:"acts"`
	Checks  []Check  `json:"claims"`
}

// Action is something that an actor did, or that happened to it.
type Action struct {
	Who     string   `json:"who"`
	Command string   `json:"command,omitempty"`
	Note    string   `json:"note,omitempty"`
	Exit    *int     `json:"exit,omitempty"` // absent while it runs
	TookMS  float64  `json:"took_ms,omitempty"`
	Output  []string `json:"output,omitempty"`
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
	pause  func(context.Context) error // between steps; nil for none
	began  time.Time                   // without the pauses
	report Report
	begins func(step int, title string) // called when a step begins; nil for nobody
}

func newNarrator(cfg Config) *narrator {
	return &narrator{
		out: cfg.Out, color: cfg.Color, pause: cfg.Pause, begins: cfg.Watch.Title,
		began: time.Now(), report: Report{Steps: []Step{}},
	}
}

// width is where lines of output are cut, and where commands continue on the next line.
const width = 110

// usualLines are lines that end many answers of tt. The report has them, but the narration leaves them out,
// so that people needn't read them again and again. A test checks that tt still prints each of them.
var usualLines = []string{"nobody holds the stick", "next: tt wait", "more to do: tt wait; nothing more: tt wait --park, or stop", "wait for your turn: tt wait"}

// colors are the colours of the actors.
var colors = map[string]string{"claude": "33", "codex": "36"}

func (n *narrator) printLinef(format string, args ...any) {
	if n.out != nil {
		fmt.Fprintf(n.out, format+"\n", args...)
	}
}

func (n *narrator) paintText(hue, s string) string {
	if !n.color || hue == "" {
		return s
	}
	return "\x1b[" + hue + "m" + s + "\x1b[0m"
}

// beginStep begins a step. Before each but the first it pauses, and fails as the pause does. If somebody may
// watch in a browser, it pauses before the first one, too.
func (n *narrator) beginStep(ctx context.Context, text string) error {
	if n.pause != nil && (len(n.report.Steps) > 0 || n.report.Pages != "") {
		// The time of a pause isn't the scene's.
		paused := time.Now()
		if err := n.pause(ctx); err != nil {
			return err
		}
		n.began = n.began.Add(time.Since(paused))
	}

	at := time.Since(n.began)
	n.report.Steps = append(n.report.Steps, Step{Title: text, AtMS: milliseconds(at), Actions: []Action{}, Checks: []Check{}})

	if n.begins != nil {
		n.begins(len(n.report.Steps), text)
	}

	heading := fmt.Sprintf("%d. %s", len(n.report.Steps), text)
	n.printLinef("\n%s  %s", n.paintText("1", heading), n.paintText("2", fmt.Sprintf("at %.2f s", at.Seconds())))
	return nil
}

// currentStep returns the current step.
func (n *narrator) currentStep() *Step { return &n.report.Steps[len(n.report.Steps)-1] }

// showAction prints and records an action.
func (n *narrator) showAction(d Action) {
	n.currentStep().Actions = append(n.currentStep().Actions, d)

	who := n.paintText(colors[d.Who], fmt.Sprintf("%6s", d.Who))
	if d.Command != "" {
		end := ""
		switch {
		case d.Exit == nil:
			end = "   … blocked"
		case *d.Exit != 0:
			end = fmt.Sprintf("   (exit %d)", *d.Exit)
		}
		n.printLinef("%s $ %s%s", who, strings.Join(wrapCommand(d.Command), " \\\n             "), n.paintText("2", end))
	}

	if d.Note != "" {
		n.printLinef("%s   %s", who, d.Note)
	}

	for _, l := range d.Output {
		if slices.Contains(usualLines, l) || strings.HasPrefix(l, "cursor ") {
			continue
		}
		n.printLinef("       | %s", n.paintText("2", clipLine(l)))
	}
}

// checkClaim prints and records a claim. If the claim isn't true, it returns the error that ends the scene.
func (n *narrator) checkClaim(ok bool, saw string, format string, args ...any) error {
	c := Check{Text: fmt.Sprintf(format, args...), OK: ok}
	if !ok {
		c.Saw = saw
	}

	n.currentStep().Checks = append(n.currentStep().Checks, c)
	if ok {
		n.printLinef("     %s %s", n.paintText("32", "✓"), c.Text)
		return nil
	}

	n.printLinef("     %s %s", n.paintText("31", "✗"), c.Text)
	return fmt.Errorf("this isn't true: %s (instead: %s)", c.Text, stick.Clip(saw, 300))
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

	n.printLinef("\n%s tt checked %d claims in %.1f s. All processes have ended, and %s.", n.paintText("1;32", "It all happened."),
		claims, took.Seconds(), left)
	n.printLinef("Now with your own agents: run %s in your repository, and start them there. They are told the rest.",
		n.paintText("1", "tt init"))
}

// wrapCommand breaks a command that is too long for a line, before flags.
func wrapCommand(command string) []string {
	var out []string
	line, rest := "", command

	for rest != "" {
		word, after := rest, ""
		if i := strings.Index(rest[1:], " --"); i >= 0 {
			word, after = rest[:i+1], rest[i+1:]
		}

		if line != "" && len(line)+len(word) > width-10 {
			out, line = append(out, line), ""
		}
		if line == "" {
			word = strings.TrimPrefix(word, " ")
		}

		line, rest = line+word, after
	}
	return append(out, line)
}

// clipLine shortens a line for display.
func clipLine(s string) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	return strings.TrimRight(string(r[:width-1]), " ") + "…"
}

// milliseconds returns d in milliseconds, rounded to a hundredth.
func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Millisecond)*100) / 100
}
