package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/guard"
	"talkingstick/internal/task"
	"talkingstick/stick"
	stickdiff "talkingstick/stick/diff"
	"talkingstick/stick/edits"
	"talkingstick/stick/presence"
)

// diff is one that changes, adds and removes lines.
const diff = `diff --git a/upload.go b/upload.go
index 0000000..587be6b 100644
--- a/upload.go
+++ b/upload.go
@@ -1,4 +1,5 @@
 package upload
 
-const tries = 1
+// tries is how often an upload is tried.
+const tries = 3
 
`

func shownTask() *task.WorkerShowResult {
	t := task.WorkerShowResult{
		TaskView: shop().Tasks[0], Path: "/home/ann/src/shop/worktrees/ui-7",
		Spec: "Try three times.\nWait between the tries.", Commits: []string{"2dd9464 Retry failed uploads"},
	}
	t.Branch, t.State = "feat/ui-7", stick.TaskInReview
	t.Evidence = []task.ShownCheck{{TaskCheck: stick.TaskCheck{Name: "tests", Command: "go test ./...", Millis: 4200}}}
	t.Files = []stickdiff.FileStat{
		{Path: "upload.go", Added: 2, Deleted: 1}, {Path: "logo.png", Added: -1, Deleted: -1},
	}
	t.Comments = []task.ShownComment{comment(1, 4, "why three?", "claude:a3f1")}
	t.Events = shop().Events[:2]
	return &t
}

func comment(id, line int, body string, by stick.AgentID) task.ShownComment {
	return task.ShownComment{
		Comment: stick.Comment{
			ID: id, Author: by, Path: "upload.go", Lines: stick.Lines{line, line}, Body: body,
			CreatedAt: before(time.Hour), Sent: 3,
		},
		Now: &task.SourcePlace{Path: "upload.go", Lines: stick.Lines{line, line}},
	}
}

func shownDiff() *task.WorkerDiffResult {
	return &task.WorkerDiffResult{
		TaskID: "ui-7", State: stick.TaskInReview, Base: "cb9f4600f8aa", Head: "2dd9464f4a0c",
		Files: shownTask().Files, Diff: diff,
		Comments: []task.ShownComment{comment(1, 4, "why three?", "claude:a3f1")},
	}
}

// shownCalls are calls of tools: one that ran beside another, and one of a sub-agent.
func shownCalls() []edits.Call {
	return []edits.Call{
		{
			ID: 17, Agent: "claude:a3f1", Tool: "Bash", Command: "gofmt -w .", Files: 12, Overlapped: true,
			Started: before(3 * time.Minute), Ended: before(2 * time.Minute),
		},
		{
			ID: 9, Agent: "claude:a3f1", Helper: "tester", Tool: "Edit", Command: "src/cart.go", Files: 1,
			Started: before(time.Hour), Ended: before(time.Hour),
		},
	}
}

// pagesToSee are pages with what was read for them.
func pagesToSee() map[string]page {
	handoff := event(30, stick.EventRelease, "claude:a3f1", "", 15*time.Minute)
	handoff.Handoff = &stick.Handoff{
		Status: "The cart adds up.\nThe discount is missing.", NextAction: "add the discount to the cart",
		DoNot: []string{"touch the tax table"},
	}
	d := shownDiff()

	m := engine.GetMessageResult{
		MessageView: engine.MessageView{MessageID: 40, From: "claude:0d12", CreatedAt: before(2 * time.Minute), Message: stick.Message{
			To: []stick.AgentID{"human:ann"}, Category: stick.Blocked, Subject: "the retry limit",
			Body: "Which retry limit do you want?\nI'd take three.",
		}},
		Receipts: []engine.ReceiptView{{AgentID: "human:ann", State: stick.Read, ReadAt: before(time.Minute)}},
	}

	left := guard.ListChangesResult{
		Count:   3,
		Changes: []guard.Change{{Path: "src/cart.go", Status: " M"}, {Path: "new file.go", Status: "??"}},
		Diff:    diff,
	}
	return map[string]page{
		"room": roomPage{id: "shop000000", handoff: &handoff, events: shop().Events, more: true, known: true},
		"agent": agentPage{
			room: "shop000000", agent: "codex:9b22", events: shop().Events[1:2], known: true, changes: left,
		},
		"asking":  agentPage{room: "shop000000", agent: "gemini:77aa", known: true},
		"task":    taskPage{room: "shop000000", id: "ui-7", res: shownTask()},
		"diff":    diffPage{room: "shop000000", id: "ui-7", res: d, lines: diffLines(*d)},
		"log":     logPage{room: "shop000000", id: "ui-8", lines: []string{"$ go test ./...", "ok  \tupload\t0.2s"}},
		"talk":    talkPage{room: "shop000000", messages: []engine.MessageView{m.MessageView}, known: true},
		"message": messagePage{room: "shop000000", id: 40, res: &m},
		"calls":   callsPage{room: "shop000000", calls: shownCalls(), known: true, more: true},
		"help":    helpPage{},
	}
}

// opens shows a page on a screen.
func opens(m *model, p page) *model {
	m.pages = append(m.pages, opened{page: p, lastIndex: -1, read: true})
	m.settleSelection()
	return m
}

func TestScreenOfPages(t *testing.T) {
	for name, p := range pagesToSee() {
		golden(t, name+"-80x24", drawn(opens(onScreen(pictured(shop(), parser()), 80, 24, false), p)))
	}
}

// Whatever others have written, and however small the terminal is: no page breaks its lines.
func TestPagesFitTheScreen(t *testing.T) {
	p := pictured(shop(), parser(), quiet())
	for i, text := range hostile {
		r := p.Rooms[i%3]
		r.State.Path = "/home/ann/" + text
		r.State.NextActionOfTurn = text
		r.Tasks = append(r.Tasks, task.TaskView{
			TaskID: "t" + text, Description: text, Reason: text, Warning: stick.Words(text),
			Worker: stick.AgentID(text),
		})
		r.Needs = append(r.Needs, message(int64(100+i), stick.AgentID(text), text))
		r.State.Members = append(r.State.Members, seen(stick.AgentID(text), presence.AgentWorks, time.Hour, text, text))
	}

	pages := pagesToSee()
	all := strings.Join(hostile, "\n")
	pages["everything"] = roomsPage{}
	pages["log"] = logPage{room: "shop000000", id: "ui-8", lines: hostile}
	pages["talk"] = talkPage{
		room: "shop000000", known: true,
		messages: []engine.MessageView{{From: stick.AgentID(all), Message: stick.Message{Body: all, Subject: all}}},
	}
	pages["calls"] = callsPage{
		room: "shop000000", known: true,
		calls: []edits.Call{{ID: 1 << 40, Agent: stick.AgentID(all), Helper: all, Tool: all, Command: all}},
	}
	d := shownDiff()
	d.Diff += "+" + strings.ReplaceAll(all, "\n", "\n+")
	d.Comments = append(d.Comments, comment(2, 3, all, stick.AgentID(all)))
	pages["diff"] = diffPage{room: "shop000000", id: all, res: d, lines: diffLines(*d)}

	for name, page := range pages {
		for _, size := range [][2]int{{80, 24}, {200, 50}, {leastWidth, leastHeight}, {10, 3}, {0, 0}} {
			for _, color := range []bool{false, true} {
				m := opens(onScreen(p, size[0], size[1], color), page)
				for range 4 {
					f := drawModel(m)
					if len(f.lines) > max(size[1], 1) {
						t.Errorf("%s has %d lines on a screen of %v", name, len(f.lines), size)
					}

					for _, l := range f.lines {
						bare := strip(l)
						if drawnWidth(l) > size[0] || strings.ContainsAny(bare, "\x1b\u202e\n\r\t\x07\x00") {
							t.Errorf("%s on a screen of %v: %q", name, size, l)
						}
					}
					m.moveSelection(17)
				}
			}
		}
	}
}

// fake performs operations by functions; others aren't there.
type fake struct {
	Operations
	show func(task.WorkerShowParams) (task.WorkerShowResult, error)
}

func (f fake) WorkerShow(_ context.Context, p task.WorkerShowParams) (task.WorkerShowResult, error) {
	return f.show(p)
}

// performs makes a model perform operations.
func performs(t *testing.T, m *model, ops Operations) *sync.WaitGroup {
	var wg sync.WaitGroup
	m.env = &env{Options: Options{Operations: ops}, ctx: t.Context(), send: func(tea.Msg) {}, background: &wg}
	return &wg
}

// presses presses keys, and runs what follows from each.
func (m *model) presses(t *testing.T, keys ...string) {
	t.Helper()
	for _, k := range keys {
		m.runs(t, m.applyMessage(keyOf(k)))
	}
}

// runs runs a command and what follows from it.
func (m *model) runs(t *testing.T, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}

	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			m.runs(t, c)
		}

	default:
		m.runs(t, m.applyMessage(msg))
	}
}

func keyOf(k string) tea.KeyPressMsg {
	for name, code := range map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "down": tea.KeyDown, "up": tea.KeyUp,
		"backspace": tea.KeyBackspace, "end": tea.KeyEnd,
	} {
		if k == name {
			return tea.KeyPressMsg{Code: code}
		}
	}

	r := []rune(k)
	return tea.KeyPressMsg{Code: r[0], Text: k}
}

// A task that waits for another leads to it.
func TestTaskLeadsToWhatItWaitsFor(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, fake{show: func(p task.WorkerShowParams) (task.WorkerShowResult, error) {
		res := task.WorkerShowResult{TaskView: task.TaskView{TaskID: p.TaskID, State: stick.TaskAssigned}}
		if p.TaskID == "ui-9" {
			res.WaitsFor = []task.TaskWait{{TaskID: "ui-8", State: stick.TaskWorking}}
		}
		return res, nil
	}})

	m.runs(t, m.openPage(taskPage{room: "shop000000", id: "ui-9"}))
	for range 20 {
		if strings.Contains(drawn(m), "> waits for     ui-8 (WORKING)") {
			break
		}
		m.presses(t, "down")
	}

	m.presses(t, "enter")
	if got := drawn(m); !strings.HasPrefix(got, "  tt  ui-8 ") {
		t.Errorf("the screen is\n%s", got)
	}
}

// A page is read when it is opened, and again when something has happened in its room. What can't be read is
// said.
func TestPageIsReadAgain(t *testing.T) {
	read := 0
	m := onScreen(pictured(shop()), 80, 24, false)
	performs(t, m, fake{show: func(p task.WorkerShowParams) (task.WorkerShowResult, error) {
		if read++; read == 3 {
			return task.WorkerShowResult{}, stick.Errorf(stick.CodeNotFound, "there is no task ui-7").Hintf(
				"%s lists them", stick.Cmd("tt task list"),
			)
		}
		res := *shownTask()
		res.Description = fmt.Sprintf("read %d", read)
		return res, nil
	}})

	shows := func(text string) {
		t.Helper()
		if got := drawn(m); !strings.Contains(got, text) {
			t.Errorf("the screen lacks %q:\n%s", text, got)
		}
	}

	m.presses(t, "3", "enter")
	shows("what          read 1")
	m.runs(t, m.applyMessage(pictureMsg{pictured(shop())})) // the same events
	shows("read 1")
	later := shop()
	later.Events = append(later.Events, event(42, stick.EventJoin, "x", "", 0))
	m.runs(t, m.applyMessage(pictureMsg{pictured(later)}))
	shows("read 2")
	later.Events = append(later.Events, event(43, stick.EventJoin, "y", "", 0))
	m.runs(t, m.applyMessage(pictureMsg{pictured(later)}))
	shows("there is no task ui-7")
	shows("hint: tt task list lists them")
	shows("read 2")
	m.presses(t, "esc")
	shows("Needs you")
}

// What has happened while a page was read isn't missed.
func TestPageIsReadOnceMoreIfItWasLate(t *testing.T) {
	m := onScreen(pictured(shop()), 80, 24, false)
	read := 0
	performs(t, m, fake{show: func(task.WorkerShowParams) (task.WorkerShowResult, error) {
		read++
		return *shownTask(), nil
	}})

	m.presses(t, "3")
	cmd := m.applyMessage(keyOf("enter"))
	later := shop()
	later.Events = append(later.Events, event(42, stick.EventJoin, "x", "", 0))
	if again := m.applyMessage(pictureMsg{pictured(later)}); again != nil {
		t.Error("it is read twice at a time")
	}

	m.runs(t, cmd)
	if read != 2 {
		t.Errorf("it was read %d times", read)
	}
}

// The end of a log stays in sight while it is selected.
func TestLogFollows(t *testing.T) {
	m := opens(onScreen(pictured(shop()), 80, 24, false), logPage{room: "shop000000", id: "ui-8"})
	hears := func(n int) {
		for i := range n {
			m.applyMessage(logMsg{text: fmt.Sprintf("line %d\n", i)})
		}
	}

	hears(100)
	if got := drawn(m); !strings.Contains(got, "> line 99") {
		t.Errorf("the end isn't there:\n%s", got)
	}

	m.presses(t, "up")
	hears(50)
	if got := drawn(m); !strings.Contains(got, "> line 98") || strings.Contains(got, "line 49") {
		t.Errorf("it doesn't stay:\n%s", got)
	}

	m.applyMessage(logMsg{err: errors.New("away")})
	if got := drawn(m); !strings.Contains(got, "away") {
		t.Errorf("it doesn't say why it ended:\n%s", got)
	}
}

// A selection stays with what was selected, wherever that goes.
func TestSelectionStays(t *testing.T) {
	m := onScreen(pictured(shop(), parser()), 80, 24, false)
	m.presses(t, "4")
	was := m.shownPage().key
	m.applyMessage(pictureMsg{pictured(parser(), shop())})
	if m.shownPage().key != was {
		t.Errorf("it went from %q to %q", was, m.shownPage().key)
	}

	less := shop()
	less.Needs = less.Needs[:1]
	m.applyMessage(pictureMsg{pictured(less)})
	if m.shownPage().key == "" {
		t.Error("nothing is selected")
	}

	m.applyMessage(pictureMsg{pictured()})
	if drawn(m); m.shownPage().key != "" {
		t.Errorf("%q is selected, and nothing is there", m.shownPage().key)
	}
}
