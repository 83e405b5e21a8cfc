package web

import (
	"net/http"
	"strconv"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/internal/task"
	"talkingstick/stick"
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

	b := &outputPage{Of: "Rescue " + shown.ID, Patch: true, Back: roomPath(v.Room.ID(), "scopes")}
	b.Facts = []labeledText{
		{"checkout", shown.Top},
		{"taken from", string(shown.Agent)},
		{"because of", shown.Command},
		{"holds", string(stick.Count(shown.Files, "path"))},
	}

	v.Body = b

	// What is in the rescue is shown, even if the comparison fails.
	diff, err := s.ops.DiffRescue(r.Context(), restore.DiffRescueParams{ID: id})
	if err != nil {
		b.Text = stick.AsError(err).Message
		return nil
	}

	b.Text, b.Cut = diff.Diff, diff.Cut
	return nil
}
