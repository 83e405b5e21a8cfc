package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// handoffFlags are the ways to give a handoff: by flags, or as JSON on standard input.
type handoffFlags struct {
	status, next         string
	artifacts, ask, dont []string
	stdin                bool
	command              *cobra.Command
}

func (h *handoffFlags) add(c *cobra.Command) {
	h.command = c
	f := c.Flags()
	f.StringVar(&h.status, "status", "", "what you did, what you learned, what is unfinished")
	f.StringVar(&h.next, "next-action", "", "what the next holder should do")
	f.StringArrayVar(&h.artifacts, "artifact", nil, "a file to load, as path[:from-to][:role][:note]; may be given again")
	f.StringArrayVar(&h.ask, "question", nil, "an open question; may be given again")
	f.StringArrayVar(&h.dont, "do-not", nil, "what the next holder should leave alone; may be given again")
	f.BoolVar(&h.stdin, "stdin", false, "read the handoff as JSON from standard input")
}

// given tells whether any flag of a handoff was used.
func (h *handoffFlags) given() bool {
	for _, name := range []string{"status", "next-action", "artifact", "question", "do-not", "stdin"} {
		if h.command.Flags().Changed(name) {
			return true
		}
	}
	return false
}

// read returns the handoff, or nil when none was given.
func (h *handoffFlags) read(a *app) (*stick.Handoff, error) {
	if !h.given() {
		return nil, nil
	}
	if h.stdin {
		if h.status != "" || h.next != "" || len(h.artifacts)+len(h.ask)+len(h.dont) > 0 {
			return nil, stick.Errorf(stick.CodeUsage, "the handoff comes from standard input or from flags, not from both")
		}
		return readHandoff(a.Stdin)
	}
	out := &stick.Handoff{Status: h.status, NextAction: h.next, OpenQuestions: h.ask, DoNot: h.dont}
	for _, s := range h.artifacts {
		artifact, err := parseArtifact(s)
		if err != nil {
			return nil, err
		}
		out.Artifacts = append(out.Artifacts, artifact)
	}
	return out, nil
}

// readHandoff reads a handoff as one JSON object, and nothing beside it.
func readHandoff(r io.Reader) (*stick.Handoff, error) {
	b, err := io.ReadAll(io.LimitReader(r, 4*stick.MaxHandoff))
	if err != nil {
		return nil, stick.Errorf(stick.CodeInvalidHandoff, "the handoff can't be read from standard input").With("field", "handoff")
	}
	var h stick.Handoff
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.DisallowUnknownFields()
	if err = d.Decode(&h); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more behind the object")
		}
	}
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "json: ")
		if len(bytes.TrimSpace(b)) == 0 {
			why = "there is nothing"
		}
		return nil, stick.Errorf(stick.CodeInvalidHandoff, "the handoff on standard input isn't the JSON that is expected: %s", stick.Clip(why, 120)).
			With("field", "handoff").
			Hintf(`for example: {"status": "…", "next_action": "…", "artifacts": [{"path": "plan.md", "role": "review"}]}`)
	}
	return &h, nil
}

// parseArtifact reads path[:from-to][:role][:note]. Without a role it is one to examine.
func parseArtifact(s string) (stick.Artifact, error) {
	a := stick.Artifact{Role: "examine"}
	path, rest, _ := strings.Cut(s, ":")
	a.Path = path
	if part, after, _ := strings.Cut(rest, ":"); part != "" && strings.IndexFunc(part, func(r rune) bool { return (r < '0' || r > '9') && r != '-' }) < 0 {
		from, to, ranged := strings.Cut(part, "-")
		if !ranged {
			to = from
		}
		var l stick.Lines
		var err1, err2 error
		l[0], err1 = strconv.Atoi(from)
		l[1], err2 = strconv.Atoi(to)
		if err := errors.Join(err1, err2); err != nil {
			return a, stick.Errorf(stick.CodeInvalidHandoff, "the lines of artifact %q aren't of the form 10-20", stick.Clip(s, 80)).With("field", "artifacts")
		}
		a.Lines, rest = &l, after
	}
	if role, note, _ := strings.Cut(rest, ":"); role != "" {
		a.Role, a.Note = role, note
	}
	return a, nil
}

// fenceFlags name the grant that an owner's command acts on.
type fenceFlags struct {
	turn  int64
	lease string
}

func (f *fenceFlags) add(c *cobra.Command) {
	c.Flags().Int64Var(&f.turn, "turn", 0, "the turn to act on (default: your own last one)")
	c.Flags().StringVar(&f.lease, "lease", "", "the lease of that turn")
}

func (f *fenceFlags) fence() engine.Fence {
	return engine.Fence{Turn: f.turn, Lease: stick.LeaseID(f.lease)}
}

func itoa(n int) string { return strconv.Itoa(n) }
