package tui

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
	stickdiff "talkingstick/stick/diff"
)

// taskPage is everything about a task.
type taskPage struct {
	room stick.RoomID
	id   string
	res  *task.WorkerShowResult // nil until it was read
}

func (p taskPage) subjectKey() string { return "task " + string(p.room) + " " + stick.TaskKey(p.id) }

func (p taskPage) roomID() stick.RoomID { return p.room }

func (p taskPage) pageTitle(*canvas) term.Text { return term.Textf("%s", p.id) }

func (p taskPage) readPage(ctx context.Context, e *env) (page, error) {
	res, err := e.Operations.WorkerShow(ctx, task.WorkerShowParams{
		Caller: e.Caller, Where: core.Where{RoomID: p.room}, TaskID: p.id,
	})
	if err == nil {
		p.res = &res
	}

	return p, err
}

func (p taskPage) targetAt(pic *monitor.Picture, key string) target {
	if other := (roomsPage{}).targetAt(pic, key); other.task != "" {
		return other
	}

	t := target{room: pic.Room(p.room), task: p.id}
	if p.res != nil {
		t.agent = p.res.Worker
	}

	return t
}

func (p taskPage) layoutLines(s *canvas) (head, body []line) {
	if p.res == nil {
		return nil, []line{textLine(faint, "reading …")}
	}

	t := p.res

	// What it is, and what keeps it, stays on top.
	head = []line{{
		cells: []cell{
			{text: term.Textf("%s", t.State.Word(t.Cause)), hue: cmp.Or(taskHue(t.TaskView), strong)},
			{text: term.Textf(", %s; attempt %d", s.ageText(t.StateAt), t.Attempt)},
		},
		end: cell{text: term.Textf("%s", t.Integration), hue: faint},
	}}
	if t.Warning != "" {
		head = append(head, textLine(bad, "! %s", t.Warning))
	}

	head = append(head, s.fieldLines("not merged", s.notMerged(p.room, t.TaskView))...)
	head = append(head, blank)

	for _, f := range p.taskFields() {
		body = append(body, s.fieldLines(f[0], f[1])...)
	}

	for _, w := range t.WaitsFor {
		l := s.fieldLines("waits for", w.TaskID+" ("+string(w.State.Word(w.Cause))+")")
		l[0].key = taskKey(p.room, w.TaskID)
		body = append(body, l...)
	}

	for _, c := range t.Evidence {
		body = append(body, s.fieldLines("check", checkText(c))...)
	}

	body = append(body, s.commentLines(t.Comments)...)
	if len(t.Files) > 0 {
		body = append(body, blank, textLine(strong, "Changes"))
		body = append(body, s.fileLines(t.Files)...)
	}

	if len(t.Commits) > 0 {
		body = append(body, blank, textLine(strong, "Commits"))
		for _, c := range t.Commits {
			body = append(body, textLine("", "%s", c))
		}
	}

	return head, append(append(body, blank), s.logLines(t.Events, t.More, true)...)
}

// taskFields are what a task is, each with its name. Empty ones are left out.
func (p taskPage) taskFields() [][2]string {
	t := p.res

	review := ""
	if t.Head != "" && t.State == stick.TaskInReview {
		review = "commit " + shortCommit(t.Head) + " of " + t.Branch
	}

	approved := ""
	if t.Approved != "" {
		approved = shortCommit(t.Approved) + " by " + string(t.ApprovedBy)
		if t.BelowAuthor {
			approved += " (started by its author)"
		}
	}

	gate := ""
	if t.ChangesGate {
		gate = "it changes the gate itself: " + strings.Join(t.GateFiles, ", ")
	}

	run, doing := "", ""
	if n := len(t.Runs); n > 0 {
		run = t.Runs[n-1].Command + " (" + string(t.Runs[n-1].StateText()) + ")"
	}
	if t.Doing != "" {
		doing = string(task.IntentText(t.Doing))
	}

	because := strings.ReplaceAll(t.Cause, "_", " ")
	if t.Reason != "" {
		because = strings.TrimPrefix(because+": "+t.Reason, ": ")
	}

	// In these states the keys do what comes next.
	next := string(t.NextAction)
	if t.State == stick.TaskInReview || t.State == stick.TaskApproved {
		next = ""
	}

	pull := ""
	if t.PullRequest.Number != 0 {
		pull = fmt.Sprintf("#%d %s", t.PullRequest.Number, t.PullRequest.State)
	}

	return [][2]string{
		{"what", t.Description},
		{"details", t.Spec},
		{"because", because},
		{"doing", doing},
		{"in review", review},
		{"approved", approved},
		{"note", gate},
		{"worker", strings.TrimSuffix(string(t.Worker)+", "+t.Liveness, ", ")},
		{"command", run},
		{"conflicts", strings.Join(t.Conflicts, ", ")},
		{"branch", t.Branch},
		{"worktree", t.Path},
		{"pull request", pull},
		{"merged as", shortCommit(t.Result)},
		{"next", next},
	}
}

// checkText says how a check of a worker ended.
func checkText(c task.ShownCheck) string {
	how := "passed"
	if c.Exit != 0 {
		how = fmt.Sprintf("failed with %d", c.Exit)
	}
	if c.Stale {
		how += ", on another commit"
	}

	took := (time.Duration(c.Millis) * time.Millisecond).Round(time.Second)
	return fmt.Sprintf("%s %s (%s, %s)", c.Name, how, c.Command, took)
}

// commentLines lists the comments on lines that wait to be dealt with.
func (s *canvas) commentLines(all []task.ShownComment) (lines []line) {
	for _, c := range all {
		if !c.ResolvedAt.IsZero() {
			continue
		}
		if len(lines) == 0 {
			lines = append(lines, blank, textLine(strong, "Comments"))
		}

		lines = append(lines, s.commentBlock(c, true)...)
	}

	return lines
}

// commentBlock shows a comment, with its place if that isn't clear from where it stands.
func (s *canvas) commentBlock(c task.ShownComment, placed bool) []line {
	by := term.Textf("%s", c.Author)
	if c.Draft {
		by = "your draft"
	}

	first := line{
		cells: []cell{{text: "    " + by, hue: asks}},
		end:   cell{text: term.Textf("%s", s.ageText(c.CreatedAt)), hue: faint},
	}

	if placed {
		first.cells = append(first.cells, cell{text: " on "}, cell{text: term.Path(c.At()), hue: place})
	}
	if c.Outdated {
		first.cells = append(first.cells, cell{text: " (outdated)", hue: faint})
	}

	return append([]line{first}, quoteLines(wrapText(term.Block(c.Body), 4, s.width, 0))...)
}

// fileLines lists what a task changes.
func (s *canvas) fileLines(all []stickdiff.FileStat) (lines []line) {
	for _, f := range all {
		l := line{cells: []cell{
			{text: term.Textf("+%d", f.Added), hue: added, width: 6},
			{text: term.Textf("-%d", f.Deleted), hue: gone, width: 6},
			{text: term.Path(f.Path)},
		}}
		if what := describeStat(f); what != "" {
			l.cells = []cell{{text: term.Textf("%s", what), hue: faint, width: 12}, l.cells[2]}
		}
		if f.From != "" && f.From != f.Path {
			l.cells = append(l.cells, cell{text: term.Textf("  was %s", term.Path(f.From)), hue: faint})
		}

		lines = append(lines, l)
	}

	return lines
}
