package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// HandoffFlags are the ways to give a handoff: by a flag for each of [stick.HandoffFields], or as JSON on
// standard input.
type HandoffFlags struct {
	stdin   bool
	command *cobra.Command
}

// AddFlags gives a command the flags of all fields, and --stdin.
func (h *HandoffFlags) AddFlags(c *cobra.Command) {
	h.AddFields(c)
	c.Flags().BoolVar(&h.stdin, "stdin", false, "read the handoff as JSON from standard input")
}

// AddFields adds the flags of the fields alone.
func (h *HandoffFlags) AddFields(c *cobra.Command) {
	h.command = c
	for _, f := range stick.HandoffFields {
		if f.Repeated {
			c.Flags().StringArray(f.Flag, nil, f.Usage)
		} else {
			// The status is what people type most.
			short := ""
			if f.Flag == "status" {
				short = "m"
			}

			c.Flags().StringP(f.Flag, short, "", f.Usage)
		}
	}
}

// flagValues returns the values that the flag of a field was given, or nil if it wasn't used.
func (h *HandoffFlags) flagValues(f stick.HandoffField) []string {
	flag := h.command.Flags().Lookup(f.Flag)
	if !flag.Changed {
		return nil
	}
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.GetSlice()
	}
	return []string{flag.Value.String()}
}

// ReadHandoff returns the handoff, or nil when none was given.
func (h *HandoffFlags) ReadHandoff(a *Run) (*stick.Handoff, error) {
	out, given := &stick.Handoff{}, false
	for _, f := range stick.HandoffFields {
		values := h.flagValues(f)
		if values == nil {
			continue
		}

		given = true
		if h.stdin {
			return nil, stick.Errorf(stick.CodeUsage, "give the handoff by flags or on standard input, not by both")
		}
		if err := f.Set(out, values); err != nil {
			return nil, err
		}
	}

	switch {
	case h.stdin:
		return readHandoff(a.Input())
	case !given:
		return nil, nil
	}

	return out, nil
}

// ReadRequiredHandoff is [HandoffFlags.ReadHandoff] for what needs a handoff. When none was given it is empty, which
// the operation refuses with what it lacks.
func (h *HandoffFlags) ReadRequiredHandoff(a *Run) (stick.Handoff, error) {
	handoff, err := h.ReadHandoff(a)
	if err != nil || handoff == nil {
		return stick.Handoff{}, err
	}
	return *handoff, nil
}

// ExplainRefusal gives the refusal of an incomplete handoff the command that takes a complete one, unless its
// hint has one already.
func (h *HandoffFlags) ExplainRefusal(err error, command stick.Command) error {
	e := stick.AsError(err)
	if e == nil || e.Code != stick.CodeInvalidHandoff || e.Hint.HasCommand() {
		return err
	}

	// Only for these two fields a complete command helps.
	if field, _ := e.Fields["field"].(string); field != "status" && field != "next_action" {
		return err
	}
	return e.Hintf("say what you did and what is unfinished, and what the next holder should do: %s", command)
}

// readHandoff reads a handoff as one JSON object, and nothing beside it.
func readHandoff(r io.Reader) (*stick.Handoff, error) {
	b, err := io.ReadAll(io.LimitReader(r, 4*stick.MaxHandoff))
	if err != nil {
		return nil, stick.Errorf(stick.CodeInvalidHandoff, "the handoff can't be read from standard input").
			With("field", "handoff")
	}

	var h stick.Handoff
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err = d.Decode(&h); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errMore
		}
	}

	if err != nil {
		return nil, stick.Errorf(stick.CodeInvalidHandoff,
			"the handoff on standard input isn't valid: %s", whyNoHandoff(b, err)).
			With("field", "handoff").
			Hintf(`for example: {"status": "…", "next_action": "…", "artifacts": [{"path": "plan.md", "role": "review"}]}`)
	}

	return &h, nil
}

// errMore says that a text goes on after the JSON that was read of it.
var errMore = errors.New("more text")

// whyNoHandoff says in plain words why a text isn't the JSON of a handoff.
func whyNoHandoff(text []byte, err error) stick.Words {
	if len(bytes.TrimSpace(text)) == 0 {
		return "it is empty"
	}

	// The library's errors name types of Go, which say nothing to an agent.
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return "it must be a JSON object, in braces"
		}

		return stick.Wordsf("%s can't be a JSON %s", stick.Name(e.Field).Cut(60), e.Value)
	}

	if e, ok := errors.AsType[*json.SyntaxError](err); ok && e.Offset > 0 && e.Offset <= int64(len(text)) {
		line := 1 + bytes.Count(text[:e.Offset-1], []byte("\n"))
		r, _ := utf8.DecodeRune(text[e.Offset-1:])
		// One character says nothing, so it is shown as it is typed.
		return stick.Words(strconv.Quote(string(r))) + stick.Wordsf(" is unexpected in line %d", line)
	}

	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.Is(err, errMore):
		return "there is text after the object"
	}

	if field, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return stick.Wordsf("there is no field %q", stick.Name(strings.Trim(field, `"`)).Cut(60))
	}

	return stick.Wordsf("%s", stick.Name(strings.TrimPrefix(err.Error(), "json: ")).Cut(120))
}

// FenceFlags name the grant that an owner's command acts on.
type FenceFlags struct {
	turn  int64
	lease string
}

// AddFlags gives a command the flags --turn and --lease.
func (f *FenceFlags) AddFlags(c *cobra.Command) {
	c.Flags().Int64Var(&f.turn, "turn", 0, "the turn to act on (default: your last one)")
	c.Flags().StringVar(&f.lease, "lease", "", "the lease of that turn")
}

// Fence returns the turn and the lease that the flags name.
func (f *FenceFlags) Fence() engine.Fence {
	return engine.Fence{Turn: f.turn, Lease: stick.LeaseID(f.lease)}
}
