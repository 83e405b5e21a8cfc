package web

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/internal/task/runner"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// columnOn is what a board shows of a column.
func columnOn(page, id string) string {
	return between(page, `<section class="column `+id, "</section>")
}

// TestBoard_Backlog: what nobody has begun is folded to a count, and says nothing that its column says.
func TestBoard_Backlog(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	s.Joins(claude)
	for i := range 7 {
		claude.Spawn("chore-" + strconv.Itoa(i)).OK()
	}
	claude.Spawn("given-up").OK()
	claude.WorkerCancel(task.WorkerCancelParams{TaskID: "given-up", Reason: "not needed"}).OK()

	page := newDesk(s, nil).ok("/tasks")
	begin := columnOn(page, "begin")
	has(t, begin, "4 more tasks", `<span class="faint">7</span>`)
	lacks(t, begin, ">assigned<")
	has(t, columnOn(page, "over"), `taskcard failed cancelled`, ">cancelled<")
}

// TestBoardTask_Column: a task whose command runs is at work, although nobody has begun it in so many words.
func TestBoardTask_Column(t *testing.T) {
	x := boardTask{TaskView: task.TaskView{State: stick.TaskAssigned, Run: &runner.RunView{State: tasks.RunRunning}}}
	if got := x.columnOf(); got != "work" {
		t.Error(got)
	}

	x.Run.State = tasks.RunEnded
	if got := x.columnOf(); got != "begin" {
		t.Error(got)
	}
}

// TestBoard_Queue: the merge queue is in its order, says nothing twice, and is merged at once by whoever wants that.
func TestBoard_Queue(t *testing.T) {
	s := scene.InQueue(t, "")
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	codex.JoinPath(engine.JoinPathParams{}).OK()
	s.ReadyToMerge("first", claude, codex)
	lacks(t, columnOn(newDesk(s, nil).ok("/tasks"), "queue"), "Merge all")

	s.ReadyToMerge("second", claude, codex)
	d := newDesk(s, nil)
	queue := columnOn(d.ok("/tasks"), "queue")
	places := regexp.MustCompile(`"place"[^>]*>(\d)</span> <a [^>]*><bdi>(\w+)<`).FindAllStringSubmatch(queue, -1)
	if len(places) != 2 || places[0][1]+places[0][2]+places[1][1]+places[1][2] != "1first2second" {
		t.Errorf("the queue is %q", places)
	}
	has(t, queue, "Merge all")
	lacks(t, queue, ">approved<", "waits until somebody")

	a := d.fill("worker_merge", url.Values{"room_id": {string(s.Room().ID)}, "all": {"true"}, "back": {"/tasks"}})
	if a.status != http.StatusSeeOther {
		t.Errorf("merge all: %d %s", a.status, a.body)
	}
	s.TaskIs("first", stick.TaskCompleted)
	s.TaskIs("second", stick.TaskCompleted)
}
