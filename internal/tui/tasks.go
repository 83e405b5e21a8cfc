package tui

import (
	"cmp"
	"slices"
	"strings"

	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// taskLines lists the tasks of a room that aren't over, at most so many.
func (s *canvas) taskLines(r *monitor.Room, most int) (lines []line) {
	left := 0
	for _, t := range r.Tasks {
		switch {
		// Tasks that are over aren't listed, but for those that failed by themselves.
		case t.State == stick.TaskCompleted, t.State == stick.TaskFailed && t.Cause == stick.CauseCancelled:
		case len(lines) == most:
			left++
		default:
			lines = append(lines, s.taskLine(r, t))
		}
	}

	if left > 0 {
		lines = append(lines, textLine(faint, "  %s more", stick.Count(left, "task")))
	}

	return lines
}

// taskLine is the line of a task.
func (s *canvas) taskLine(r *monitor.Room, t task.TaskView) line {
	name, state, age := s.columnWidths()
	text, h := aboutTask(t)
	l := line{key: taskKey(r.ID(), t.TaskID)}

	// A refused merge says more than all else.
	if why := s.notMerged(r.ID(), t); why != "" {
		text, h = term.Textf("! not merged: %s", why), bad
	}

	l.cells = []cell{
		{text: "  "},
		{text: term.Textf("%s", t.TaskID), width: name},
		{text: " "},
		{text: term.Textf("%s", t.State.Word(t.Cause)), hue: taskHue(t), width: state},
		{text: term.Textf("%s", s.ageText(t.StateAt)), width: age},
		{text: text, hue: h},
	}

	return l
}

func taskKey(room stick.RoomID, id string) string { return "task " + string(room) + " " + id }

func taskHue(t task.TaskView) hue {
	// A merge that has failed stays so until the worker offers the task again.
	if t.State == stick.TaskWorking && (t.Cause == stick.CauseGate || t.Cause == stick.CauseConflict) {
		return bad
	}

	switch t.State {
	case stick.TaskConflicted, stick.TaskFailed:
		return bad
	case stick.TaskInReview:
		return asks
	case stick.TaskApproved, stick.TaskCompleted:
		return good
	}

	return ""
}

// notMerged says why the last merge of a task was refused, if it still waits for one.
func (s *canvas) notMerged(room stick.RoomID, t task.TaskView) string {
	if t.State != stick.TaskApproved || t.Doing != "" {
		return ""
	}
	return s.unmerged[taskKey(room, t.TaskID)]
}

// aboutTask says what matters most about a task now: what it hangs on, if it does.
func aboutTask(t task.TaskView) (term.Text, hue) {
	var parts []string
	h := faint
	switch {
	case t.Warning != "":
		parts, h = append(parts, "! "+string(t.Warning)), bad
	case t.Doing != "":
		parts, h = append(parts, string(task.IntentText(t.Doing))), good
	case t.Queue == 1:
		parts = append(parts, "ready to merge")
	case t.Queue > 1:
		parts = append(parts, string(stick.Count(t.Queue-1, "task")+" before it in the merge queue"))
	case len(t.WaitsFor) > 0:
		var ids []string
		for _, w := range t.WaitsFor {
			ids = append(ids, w.TaskID)
		}
		parts = append(parts, "waits for "+strings.Join(ids, ", "))
	case t.Ready:
		parts = append(parts, "ready to begin")
	}

	if t.Worker != "" {
		parts = append(parts, string(t.Worker))
	}
	if t.OpenComments > 0 {
		parts = append(parts, string(stick.Count(t.OpenComments, "open comment")))
	}

	// The sentence of whoever made or returned it has what room is left.
	parts = append(parts, cmp.Or(t.Reason, t.Description))
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	return term.Textf("%s", strings.Join(parts, "; ")), h
}
