package web

import (
	"net/http"
	"strconv"
	"strings"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/task"
	"talkingstick/stick"
	"talkingstick/stick/diff"
)

// outputPage is a long text: what a command has printed, or a diff.
type outputPage struct {
	Of    string // a sentence that says what it is
	Facts []labeledText
	Text  string
	Patch bool // it is a diff
	Cut   bool // there is more of it
	Back  string
	Task  string // whose it is; empty for none

	Rescue string // that is shown, and can be brought back; empty for none
}

// patchLine is a line of a diff: add, del, hunk or same.
type patchLine struct{ Kind, Text string }

// PatchLines are the lines of a text that is a diff.
func (b *outputPage) PatchLines() (lines []patchLine) {
	var r diff.PatchReader
	for raw := range strings.Lines(b.Text) {
		text := strings.TrimRight(raw, "\r\n")
		l := r.Next(text)
		kind := "same"
		switch {
		case l.Hunk != nil || strings.HasPrefix(text, "diff --git "):
			kind = "hunk"
		case l.Old == 0 && l.New > 0:
			kind = "add"
		case l.New == 0 && l.Old > 0:
			kind = "del"
		}
		lines = append(lines, patchLine{kind, text})
	}

	return lines
}

// readLogs reads the end of what a worker's command has written.
func (s *Server) readLogs(r *http.Request, v *view) error {
	lines := 2000
	run, _ := strconv.Atoi(r.URL.Query().Get("run"))
	attempt, _ := strconv.Atoi(r.URL.Query().Get("attempt"))

	// Without numbers, the last attempt with a run and its last run are meant.
	res, err := s.ops.WorkerLogs(r.Context(), task.WorkerLogsParams{
		Caller: s.o.Caller, Where: core.Where{RoomID: v.Room.ID()},
		TaskID: r.PathValue("task"), Attempt: attempt, Run: run, Lines: &lines,
	})
	if err != nil {
		return err
	}

	v.Body = &outputPage{
		Of:    "The command of " + res.TaskID + ", which " + string(res.Run.StateText()),
		Text:  res.Text,
		Cut:   res.Before > 0,
		Task:  res.TaskID,
		Facts: []labeledText{{"command", res.Run.Command}},
		Back:  roomPath(v.Room.ID(), "task", res.TaskID),
	}

	return nil
}

// readOutput reads what a gate or a check has printed.
func (s *Server) readOutput(r *http.Request, v *view) error {
	res, err := s.ops.WorkerOutput(r.Context(), task.WorkerOutputParams{Caller: s.o.Caller, Sum: r.PathValue("sum")})
	if err != nil {
		return err
	}

	v.Body = &outputPage{Of: "Output " + shortName(res.Sum), Text: res.Text, Back: localPath(r.URL.Query().Get("back"))}
	return nil
}

// readUncommitted shows what differs in the uncommitted files of a room: in all of them, or in those that one
// agent has edited.
func (s *Server) readUncommitted(r *http.Request, v *view) error {
	of := stick.AgentID(r.URL.Query().Get("of"))
	res, err := s.ops.ListChanges(r.Context(), guard.ListChangesParams{
		Caller: s.o.Caller, Where: core.Where{RoomID: v.Room.ID()}, Agent: of, Diff: true,
	})
	if err != nil {
		return err
	}

	b := &outputPage{
		Of:    string(stick.Count(res.Count, "uncommitted file")),
		Text:  res.Diff,
		Patch: true,
		Cut:   res.Cut,
		Back:  roomPath(v.Room.ID(), "scopes"),
		Facts: []labeledText{{"checkout", res.Checkout}},
	}

	if of != "" {
		b.Facts = append(b.Facts, labeledText{"edited by", v.describeAgent(v.Room, of)})
	}

	v.Body = b
	return nil
}

// readRescue shows how a rescue differs from what is there now.
func (s *Server) readRescue(r *http.Request, v *view) error {
	id := r.PathValue("id")
	shown, err := s.ops.ShowRescue(r.Context(), restore.ShowRescueParams{ID: id})
	if err != nil {
		return err
	}

	b := &outputPage{Of: "Rescue " + shown.ID, Patch: true, Back: roomPath(v.Room.ID(), "scopes"), Rescue: shown.ID}
	b.Facts = []labeledText{
		{"checkout", shown.Top},
		{"taken from", string(shown.Agent)},
		{"because of", shown.Command},
		{"holds", string(stick.Count(shown.Files, "path"))},
	}

	v.Body = b

	// What is in the rescue is shown, even if the comparison fails.
	differs, err := s.ops.DiffRescue(r.Context(), restore.DiffRescueParams{ID: id})
	if err != nil {
		b.Text, b.Patch = stick.AsError(err).Message, false
		return nil
	}

	if b.Text, b.Cut = differs.Diff, differs.Cut; b.Text == "" {
		b.Text, b.Patch, b.Rescue = "Nothing in it differs from what is there now.", false, ""
	}
	return nil
}
