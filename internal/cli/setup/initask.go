package setup

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/git"
	"talkingstick/internal/harness"
	"talkingstick/internal/install"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// initChoices are what a person, flags or the defaults have decided.
type initChoices struct {
	Enforce     stick.Enforce
	Git         bool
	Harnesses   []string
	Integration string
	Gate        string // empty for none
}

// changedSettings are the keys of the project's file by which the choices differ from what it says.
func (c initChoices) changedSettings(have initChoices) (all []install.Setting) {
	if c.Integration != have.Integration {
		all = append(all, install.Setting{Section: "worker", Name: "integration", Value: c.Integration})
	}
	if c.Gate != have.Gate {
		all = append(all, install.Setting{Section: "gate", Name: "command", Value: c.Gate})
	}
	return all
}

// initQuestion is something that tt init asks. The flag of that name answers it, in the same words.
type initQuestion struct {
	flag  string
	why   string // what it is about, in a line before it
	text  stick.Words
	asked func(*initSite) bool             // nil: always
	now   func(initChoices) string         // what an empty answer means
	set   func(*initChoices, string) error // fails with CodeUsage
}

// none is the answer that means that there shall be nothing.
const none = "none"

var initQuestions = []initQuestion{
	{
		flag: "enforce",
		why: "Agents wait for the stick before they edit. This says what happens to one that doesn't; " +
			"people are never stopped.",
		text: "Edits without the stick: off allows, warn tells, scopes denies unless reserved, stick denies",
		now:  func(c initChoices) string { return string(c.Enforce) },
		set: func(c *initChoices, answer string) error {
			p, err := stick.DefaultPolicy().Set("enforce", answer)
			if err == nil {
				c.Enforce = p.Enforce
			}
			return err
		},
	},
	{
		flag:  "git",
		why:   "Hooks stop or report a commit or push by an agent that has no turn. Your own commits pass.",
		text:  "Put hooks into git that ask whether an agent may commit: yes or no",
		asked: (*initSite).hooksLack,
		now: func(c initChoices) string {
			if c.Git {
				return "yes"
			}
			return "no"
		},
		set: func(c *initChoices, answer string) error {
			switch strings.ToLower(answer) {
			case "yes", "y", "true":
				c.Git = true
			case "no", "n", "false":
				c.Git = false
			default:
				return stick.Errorf(stick.CodeUsage, "the answer must be yes or no, not %q",
					stick.Clip(answer, 40)).With("field", "git")
			}
			return nil
		},
	},
	{
		flag: "harness",
		why: "A connected harness tells its agents who holds the stick, and asks tt before each edit. " +
			"tt uninstall disconnects it.",
		text:  "Harnesses to connect, of " + stick.Names(harness.Names(), len(harness.Rows)),
		asked: func(s *initSite) bool { return len(s.lacking) > 0 || len(s.harnesses) == 0 },
		now:   func(c initChoices) string { return cmp.Or(strings.Join(c.Harnesses, ","), none) },
		set:   setHarnesses,
	},
	{
		flag: "integration",
		why: "Agents can also work side by side on tasks, each on a branch of its own. " +
			"What you approve is merged into this branch.",
		text: "Branch that tasks are merged into",
		now:  func(c initChoices) string { return c.Integration },
		set: func(c *initChoices, answer string) error {
			if !git.BranchName(answer) {
				return stick.Errorf(stick.CodeUsage, "%q isn't a valid branch name", stick.Clip(answer, 60)).
					With("field", "integration")
			}
			c.Integration = answer
			return nil
		},
	},
	{
		flag: "gate",
		why:  "tt runs this command on the merged commit first. If it fails, nothing is merged and the task goes back.",
		text: "Command that has to pass before a merge, such as make test",
		now:  func(c initChoices) string { return cmp.Or(c.Gate, none) },
		set: func(c *initChoices, answer string) error {
			if strings.TrimSpace(answer) == "" || strings.ContainsAny(answer, "\r\n\x00") {
				return stick.Errorf(stick.CodeUsage, "the gate must be a command on one line, or %s", none).
					With("field", "gate")
			}
			if c.Gate = answer; answer == none {
				c.Gate = ""
			}
			return nil
		},
	},
}

func setHarnesses(c *initChoices, answer string) error {
	if answer == none {
		c.Harnesses = nil
		return nil
	}

	var names []string

	// Names may be separated by commas or blanks, as people type them.
	for _, name := range strings.FieldsFunc(answer, func(r rune) bool { return r == ',' || r == ' ' }) {
		if _, ok := harness.ByName(name); !ok {
			return stick.Errorf(stick.CodeUsage, "%q isn't a known harness; these are: %s",
				stick.Clip(name, 40), stick.Names(harness.Names(), len(harness.Rows))).With("field", "harness")
		}

		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}

	if len(names) == 0 {
		return stick.Errorf(stick.CodeUsage, "no harness is named; to connect none, use %s", none).
			With("field", "harness")
	}

	c.Harnesses = names
	return nil
}

// askInit asks on the terminal what no flag has answered. ok is false if the answers ended early: then
// nothing is to be done.
func askInit(
	ctx context.Context, a *app.Run, c *cobra.Command, in *bufio.Reader, s *initSite, wants *initChoices,
) (ok bool, err error) {
	a.Write(term.Wordsf("tt sets up %s. An empty answer takes what stands in brackets. "+
		"Nothing changes before the last question.\n", s.path))

	// A flag has answered its question, and some questions don't arise.
	for _, q := range initQuestions {
		if c.Flags().Changed(q.flag) || q.asked != nil && !q.asked(s) {
			continue
		}

		a.Write(term.Wordsf("\n%s\n", stick.Words(q.why)))
		for {
			a.Write(term.Wordsf("%s [%s]: ", q.text, q.now(*wants)))
			answer, ok, err := readAnswer(ctx, a, in)
			if err != nil || !ok {
				return false, err
			}

			// An empty answer takes what is in brackets.
			if answer == "" {
				break
			}
			if err = q.set(wants, answer); err == nil {
				break
			}

			a.Write(term.Wordsf("%s\n", stick.AsError(err)))
		}
	}

	return true, nil
}

// readAnswer reads a line. ok is false where there is none: then tt init ends.
func readAnswer(ctx context.Context, a *app.Run, in *bufio.Reader) (answer string, ok bool, err error) {
	answer, err = readLine(ctx, in)

	// Who closes the input wants nothing done.
	if errors.Is(err, io.EOF) {
		a.Write("\n")
		leaveAsItIs(a)
		return "", false, nil
	}
	return answer, err == nil, err
}

// leaveAsItIs ends tt init for a person who doesn't want to go on.
func leaveAsItIs(a *app.Run) {
	a.Write("nothing was changed\n")
	a.Status = stick.ExitUsage
}

// confirmInit shows what the answers come to, and asks whether to do it.
func confirmInit(ctx context.Context, a *app.Run, in *bufio.Reader, s *initSite, plan initPlan) (ok bool, err error) {
	p := a.NewPage()
	showInitPlan(p, s, plan)
	a.Write(p.Text())

	for {
		a.Write("Do this: yes or no [yes]: ")
		answer, ok, err := readAnswer(ctx, a, in)
		if err != nil || !ok {
			return false, err
		}

		switch strings.ToLower(answer) {
		case "", "yes", "y":
			return true, nil
		case "no", "n":
			leaveAsItIs(a)
			return false, nil
		}

		a.Write("the answer must be yes or no\n")
	}
}

// readLine reads what somebody types, without the blanks around it. It fails with [io.EOF] if there is
// nothing more, and with [stick.CodeCanceled] when it is interrupted.
func readLine(ctx context.Context, in *bufio.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}

	typed := make(chan line, 1)
	go func() {
		// This goroutine ends with the line, or with the program.
		text, err := in.ReadString('\n')
		typed <- line{text, err}
	}()

	select {
	case <-ctx.Done():
		return "", stick.Errorf(stick.CodeCanceled, "interrupted; nothing was changed")
	case l := <-typed:
		if l.err != nil && l.text == "" {
			return "", io.EOF
		}

		return strings.TrimSpace(l.text), nil
	}
}
