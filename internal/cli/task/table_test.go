package task

import (
	"regexp"
	"strings"
	"testing"

	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// Rows of a list never reach the end of the terminal, however long and wide their texts are, and the heads
// stand over their columns.
func TestAListFitsTheTerminal(t *testing.T) {
	now := stick.Time(1_000_000_000)
	res := task.WorkerStatusResult{Tasks: []task.TaskView{
		{
			TaskID: "lexer", State: stick.TaskWorking, StateAt: now, Worker: "claude:0123456789abcdef",
			SpawnedBy: "漢", Description: strings.Repeat("漢字 ", 20),
		},
		{
			TaskID: strings.Repeat("long-", 12), State: stick.TaskConflicted, StateAt: now - 60_000,
			Description: "👍 " + strings.Repeat("x", 90),
		},
		{
			TaskID: "分析器", State: stick.TaskInReview, StateAt: now, Worker: "人",
			Warning: stick.Words(strings.Repeat("no sign of life ", 12)),
		},
		{TaskID: "done", State: stick.TaskCompleted, StateAt: now},
	}}

	colour := regexp.MustCompile(`\x1b\[[0-9;]*m`)
	for _, columns := range []int{10, 20, 40, 60, 80, 132, 400} {
		for _, color := range []bool{false, true} {
			p := &term.Page{Width: columns, Color: color, Now: now}
			showTasks(p, res)
			lines := strings.Split(strings.TrimSuffix(colour.ReplaceAllString(string(p.Text()), ""), "\n"), "\n")
			for _, l := range lines {
				if w := column(l+"$", "$"); w > columns && (columns >= 40 || !strings.Contains(l, "n")) {
					t.Errorf("at %d columns a row needs %d: %q", columns, w, l)
				}
				if l != strings.TrimRight(l, " ") && !strings.HasPrefix(l, "      ") {
					t.Errorf("at %d columns there are blanks at the end of %q", columns, l)
				}
			}

			if columns < 60 {
				continue
			}

			for _, mark := range []struct{ head, cell, row string }{
				{"STATE", "CONFLICTED", "long"},
				{"STATE", "IN_REVIEW", "分析器"},
				{"WORKER", "claude:", "lexer"},
				{"WORKER", "人", "分析器"},
				{"WHAT", `"漢`, "lexer"},
			} {
				for _, l := range lines {
					if strings.HasPrefix(l, mark.row) && column(l, mark.cell) != column(lines[0], mark.head) {
						t.Errorf("at %d columns %s isn't over %s:\n%s\n%s", columns, mark.head, mark.cell, lines[0], l)
					}
				}
			}
		}
	}

	p := &term.Page{Now: now}
	showTasks(p, res)
	got := string(p.Text())
	if strings.Contains(strings.Split(got, "\n")[1], "…") ||
		!strings.Contains(got, strings.Repeat("long-", 12)) ||
		!strings.Contains(got, "claude:0123456789abcdef") {
		t.Errorf("in a pipe names are cut:\n%s", got)
	}
}

// column returns the column of the terminal in which a text begins.
func column(line, text string) int {
	before, _, found := strings.Cut(line, text)
	if !found {
		return -1
	}
	return term.Width(before)
}
