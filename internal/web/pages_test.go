package web

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/internal/task"
	"talkingstick/stick"
)

// TestRoomIsLive: what happens in a room comes to its open page by itself, also what makes no event.
func TestRoomIsLive(t *testing.T) {
	s := scene.New(t)
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	room := s.Room().ID
	has(t, d.ok("/"), "work", claude.ShownName()+" has the stick")
	has(t, d.ok("/room/"+string(room)), claude.ShownName(), ">Log<")

	x := d.stream("/room/"+string(room), nil)
	x.until("the first message", func(told) bool { return true })
	claude.Release("wrote the lexer", "write the parser")
	x.row("write the parser")
	waits := codex.Waits()
	x.row(codex.ShownName())
	waits.Ends().Granted(2)
	x.part("turn", "<b><bdi>"+codex.ShownName())

	// The end of a process makes no event.
	codex.Dies()
	s.Ring()
	x.part("agents", "gone")
	x.part("turn", "It can be taken over")
}

// TestStreamGoesOn: a browser that was cut off gets what it missed, each event once.
func TestStreamGoesOn(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	page := "/room/" + string(s.Room().ID)
	x := d.stream(page, nil)
	last := x.until("the first message", func(told) bool { return true }).id
	x.close()
	for i := range 3 * eventsShown {
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{stick.ToSystem}, Body: "message " + strconv.Itoa(i),
		}).OK()
	}
	again := d.stream(page, http.Header{"Last-Event-ID": {last}})
	next := 0
	again.until("the last message", func(n told) bool {
		for _, r := range n.Rows {
			if strings.Contains(r, "message "+strconv.Itoa(next)+"</") ||
				strings.Contains(r, "message "+strconv.Itoa(next)+"\n") {
				next++
			}
		}
		return next == 3*eventsShown
	})

	// One that missed too much loads its page again.
	for i := range maxCatchUp {
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{stick.ToSystem}, Body: "more " + strconv.Itoa(i),
		}).OK()
	}
	d.stream(page, http.Header{"Last-Event-ID": {last}}).until("that the page has to be loaded again",
		func(n told) bool { return n.Again })
}

// TestSeenAndAccepted: a message is marked as seen and then accepted, as the person, and its sender hears of
// it.
func TestSeenAndAccepted(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	id := claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Body: "uploads fail", Category: "BLOCKED",
		Contract: stick.Contract{Blocker: "no API key", Request: "create one", Urgency: "high"},
	}).ID()
	room := string(s.Room().ID)
	x := d.stream("/inbox", nil)
	x.part("inbox", "uploads fail")
	page := d.ok("/inbox")
	has(t, page, "Needs input", "no API key", "create one", "Seen", "Accepted")
	has(t, d.ok("/needs"), "waits for your answer")
	form := url.Values{"room_id": {room}, "message_ids": {strconv.FormatInt(id, 10)}, "back": {"/inbox"}}
	if a := d.fill("read_message", form); a.status != http.StatusSeeOther || a.header.Get("Location") != "/inbox" {
		t.Fatalf("Seen: %d %s", a.status, a.body)
	}

	x.part("inbox", "<b>Seen</b>")
	if a := d.fill("ack_message", form); a.status != http.StatusSeeOther {
		t.Fatalf("Accepted: %d %s", a.status, a.body)
	}

	x.part("inbox", "No message waits for you")
	has(t, d.ok("/inbox?show=all"), "<b>Accepted</b>")
	has(t, d.ok("/room/"+room+"/message/"+strconv.FormatInt(id, 10)), "Accepted")
	got := claude.GetMessage(engine.GetMessageParams{MessageID: id}).OK()
	if len(got.Receipts) != 1 || got.Receipts[0].State != stick.Acked || got.Receipts[0].AgentID != d.ann.ID {
		t.Errorf("the receipts are %+v", got.Receipts)
	}

	// A refusal says why, and what to do.
	a := d.fill("ack_message", url.Values{"room_id": {room}, "message_ids": {"99"}, "back": {"/inbox"}})
	if a.status != 404 {
		t.Errorf("no such message: %d", a.status)
	}
	has(t, a.body, `role="alert"`, `href="/inbox"`)
}

// TestInbox_Storm: of many messages the page lists the newest, says how many there are, and marks all as seen; what
// waits for an answer can be answered, though it is older than those.
func TestInbox_Storm(t *testing.T) {
	s := scene.New(t)
	claude := s.Agent("claude:a")
	claude.JoinPath(engine.JoinPathParams{}).OK()
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Category: "BLOCKED", Body: "which port?"}).OK()
	for range 70 {
		claude.SendAs(engine.SendMessageParams{To: []stick.AgentID{d.ann.ID}, Body: "progress: tests pass"}).OK()
	}

	// A server that begins now has read all of it.
	d.serve(nil)
	d.signIn(d.server.Address(addressOf(d.base), ""))
	page := d.ok("/inbox")
	has(t, page, "<b>71</b> are unread", "Mark all as seen")
	_, list, _ := strings.Cut(page, "<main")
	lacks(t, list, "which port?")
	has(t, d.ok("/needs"), "which port?", "Reply and accept")

	room := string(s.Room().ID)
	if a := d.fill("read_message", url.Values{"room_id": {room}, "all": {"true"}, "back": {"/inbox"}}); a.status != 303 {
		t.Errorf("marking all: %d %s", a.status, a.body)
	}
	if n := d.ann.Inbox().Unread; n != 0 {
		t.Errorf("%d messages are still unread", n)
	}
}

// TestReview: a task goes back with two comments on lines, in one message. Then it is approved and merged,
// all without script.
func TestReview(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	claude.JoinPath(engine.JoinPathParams{}).OK()
	claude.Spawn("ui-7").OK()
	w := claude.WorksOn("ui-7")
	w.Commits("upload.txt", "one\ntwo\nthree\n")
	w.Done("").OK()
	d := newDesk(s, nil)
	room := string(s.Room().ID)
	at := "/room/" + room + "/task/ui-7"
	has(t, d.ok("/tasks"), "ui-7", "In review <span class=\"faint\">1<")
	has(t, d.ok("/needs"), "ui-7 waits for a review", "Review")
	page := d.ok(at)
	has(t, page, "upload.txt", `href="?at=upload.txt%3a2#comment"`, "Approve", "Request changes")
	has(t, d.ok(at+"?at=upload.txt:2"), `name="at" value="upload.txt:2"`, `<textarea id="comment"`)

	head := between(page, `name="head" value="`, `"`)
	for line, body := range map[string]string{"1": "why one?", "3": "why three?"} {
		a := d.fill("worker_comment", url.Values{
			"room_id": {room}, "task_id": {"ui-7"}, "head": {head}, "at": {"upload.txt:" + line},
			"body": {body}, "back": {at},
		})
		if a.status != http.StatusSeeOther || a.header.Get("Location") != at {
			t.Fatalf("a comment: %d %s", a.status, a.body)
		}
	}

	has(t, d.ok(at), "why one?", "draft: only you see it")
	if a := d.fill("worker_request_changes", url.Values{
		"room_id": {room}, "task_id": {"ui-7"}, "head": {head}, "reason": {"almost"}, "back": {at},
	}); a.status != http.StatusSeeOther {
		t.Fatalf("request changes: %d %s", a.status, a.body)
	}

	in := claude.Inbox()
	if len(in.Messages) != 1 ||
		!strings.Contains(in.Messages[0].Body, "why one?") ||
		!strings.Contains(in.Messages[0].Body, "why three?") {
		t.Errorf("the worker got %+v", in.Messages)
	}

	x := d.stream(at+"?head="+head, nil)
	x.part("taskhead", "came back")
	w.Commits("upload.txt", "three\n")
	w.Done("").OK()
	x.part("moved", "Its branch has moved")
	if a := d.fill("worker_approve", url.Values{
		"room_id": {room}, "task_id": {"ui-7"}, "head": {head}, "back": {at},
	}); a.status != http.StatusConflict {
		t.Errorf("approving what isn't there any more: %d", a.status)
	}

	head = between(d.ok(at), `name="head" value="`, `"`)
	if a := d.fill("worker_approve", url.Values{
		"room_id": {room}, "task_id": {"ui-7"}, "head": {head}, "back": {at},
	}); a.status != http.StatusSeeOther {
		t.Fatalf("approve: %d %s", a.status, a.body)
	}

	x.part("taskacts", "Merge")
	has(t, d.ok("/needs"), "approved and waits for its merge")
	if a := d.fill("worker_merge", url.Values{"room_id": {room}, "task_id": {"ui-7"}, "back": {at}}); a.status != http.StatusSeeOther {
		t.Fatalf("merge: %d %s", a.status, a.body)
	}

	x.part("taskhead", "completed")
	s.TaskIs("ui-7", stick.TaskCompleted)
	has(t, d.ok("/tasks"), "completed")
}

// between is what stands in a text between two others.
func between(text, from, to string) string {
	_, after, _ := strings.Cut(text, from)
	in, _, _ := strings.Cut(after, to)
	return in
}

// newBusyRoom makes a room in which one agent holds the stick and another waits, with reservations that
// overlap, a note, tasks, and a loose file. It returns the holder.
func newBusyRoom(t *testing.T) (*scene.Scene, *scene.Actor) {
	t.Helper()
	s := scene.InQueue(t, "")
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	claude.Try().Granted(1)
	codex.Waits()
	claude.Reserve("src/**").OK()
	codex.Reserve("src/*.go").OK()
	claude.AddNote(engine.AddNoteParams{Body: "the build needs go 1.26"}).OK()
	claude.Spawn("a").OK()
	claude.SpawnLater("b", "a").OK()
	s.File("loose.txt", "x\n")
	return s, claude
}

// TestPages: each page of a busy room can be shown.
func TestPages(t *testing.T) {
	s, _ := newBusyRoom(t)
	d := newDesk(s, nil)
	room := "/room/" + string(s.Room().ID)
	for path, want := range map[string][]string{
		"/":                {"work", "2 open tasks"},
		"/needs":           {"Nothing needs you"},
		"/inbox":           {"No message waits"},
		"/inbox?show=sent": {"There are no messages"},
		"/sessions":        {"claude:", "waits for the stick", "Overlap"},
		"/tasks":           {"To begin", `it begins when this has landed: <a href="` + room + `/task/a">`},
		"/scopes":          {"src/*.go", "Release"},
		room:               {"Who waits for whom", "the build needs go 1.26", "waits for the stick"},
		room + "/scopes":   {"src/*.go", "loose.txt", "Where work met"},
		room + "/log":      {"reserved"},
		room + "/task/b":   {`it begins when this has landed: <a href="` + room + `/task/a">`},
		room + "/task/a":   {"Cancel the task"},
	} {
		has(t, d.ok(path), want...)
	}

	for path, want := range map[string]int{
		"/nothing": 404, "/room/nothing": 404, room + "/task/none": 404, room + "/message/1": 404,
		room + "/output/abcdef": 404, room + "/rescue/abcdef": 404,
	} {
		if a := d.page(path); a.status != want {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

// hostile are texts that would do harm if a page took them for more than text.
var hostile = []string{
	`<script>document.title="owned"</script>`, `"><img src=x onerror="document.title='owned'">`,
	`'><svg/onload=document.title='owned'>`,
	"\x1b[31mred\x1b]0;owned\x07", "\u202eevil\u202c\u2066", strings.Repeat("\U0001F600", 1000),
	strings.Repeat("W", 4000), "{{.}} ${alert(1)} javascript:alert(1)",
	"line\r\n\r\ndata: x\n\nid: 5", "</textarea></title></style>",
}

// TestHostileTexts: whatever others write stays text.
func TestHostileTexts(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	claude.Try().Granted(1)
	d := newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()

	for i, text := range hostile {
		claude.SendAs(engine.SendMessageParams{
			To: []stick.AgentID{d.ann.ID}, Body: text, Subject: cut(text, 200), Category: "BLOCKED",
			TaskID: cut(text, 100), Contract: stick.Contract{Blocker: cut(text, 900)},
		}).OK()
		claude.AddNote(engine.AddNoteParams{Body: text}).OK()
		name := "t" + strconv.Itoa(i)
		claude.WorkerSpawn(task.WorkerSpawnParams{TaskID: name, Description: cut(text, 1000), Spec: text}).OK()
	}

	w := claude.WorksOn("t0")
	if err := os.WriteFile(filepath.Join(w.Path, "<b>x.txt"), []byte(strings.Join(hostile, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	w.Commits("plain.txt", "x\n")
	s.GitIn(w.Path, "add", "-A")
	s.GitIn(w.Path, "commit", "-qm", hostile[0])
	w.Done("").OK()
	room := "/room/" + string(s.Room().ID)
	x := d.stream(room, nil)
	first := x.until("everything", func(told) bool { return true })
	j, err := json.Marshal(first.news)
	if err != nil {
		t.Fatal(err)
	}

	pages := map[string]string{"the stream": string(j)}
	for _, path := range []string{
		"/", "/needs", "/inbox", "/sessions", "/tasks", "/scopes", room, room + "/scopes", room + "/log",
		room + "/task/t0", room + "/task/t1",
	} {
		pages[path] = d.ok(path)
	}

	for path, page := range pages {
		for _, bad := range []string{`<script>document`, `<img`, `<svg/`, "<b>x", "\x1b", "\u202e", "\u2066", "\r"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q", path, bad)
			}
		}
	}
	has(t, pages[room], "&lt;script&gt;document.title")
}

// cut is the beginning of a text, of at most n bytes.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// TestATaskThatCameBack: it isn't said to be at work while its worker hasn't read why it came back, or is
// gone. The page offers to write to the worker.
func TestATaskThatCameBack(t *testing.T) {
	s := scene.InQueue(t, "")
	claude := s.Agent("claude:a")
	s.Joins(claude)
	claude.Spawn("ui-7").OK()
	w := claude.WorksOn("ui-7")
	w.Commits("a.txt", "x")
	w.Done("").OK()
	d := newDesk(s, nil)
	room := string(s.Room().ID)
	at := "/room/" + room + "/task/ui-7"
	head := between(d.ok(at), `name="head" value="`, `"`)
	x := d.stream(at+"?head="+head, nil)
	if a := d.fill("worker_request_changes", url.Values{
		"room_id": {room}, "task_id": {"ui-7"}, "head": {head}, "reason": {"almost"}, "back": {at},
	}); a.status != http.StatusSeeOther {
		t.Fatalf("request changes: %d %s", a.status, a.body)
	}

	x.part("taskhead", "hasn&#39;t read why")
	page := d.ok(at)
	has(t, page, ">came back</span>", "Message its worker")
	if strings.Contains(page, ">working</span>") {
		t.Error("it is said to be at work")
	}
	if a := d.fill("send_message", url.Values{
		"room_id": {room}, "task_id": {"ui-7"}, "to": {string(claude.ID)}, "body": {"please look"},
		"back": {at},
	}); a.status != http.StatusSeeOther {
		t.Fatalf("a message: %d %s", a.status, a.body)
	}

	claude.Works()
	x.part("taskhead", ">working</span>")
	claude.Dies()
	s.Ring()
	x.part("taskhead", "its worker is gone")
	has(t, d.ok("/needs"), "ui-7 came back (review), and its worker is gone")
}

// TestFormsSayWhatTheyDid: each form that leaves its page where it is says what was done.
func TestFormsSayWhatTheyDid(t *testing.T) {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}

	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}

		for _, form := range strings.Split(string(text), "<form ")[1:] {
			tag, _, _ := strings.Cut(form, ">")
			if strings.Contains(tag, "data-stay") && !strings.Contains(tag, `data-said="`) {
				t.Errorf("%s: <form %s> doesn't", name, tag)
			}
		}
	}
}

// TestARowSaysItOnce: the tag of a row isn't said again by its sentence.
func TestARowSaysItOnce(t *testing.T) {
	d, claude, room, id := asked(t)
	x := d.stream("/room/"+room, nil)
	d.ann.AckMessage(engine.MessagesParams{MessageIDs: []int64{id}}).OK()
	x.row(`<span class="tag">Needs input</span> <span dir="auto">from ` + string(d.ann.ID) + ", says " + claude.ShownName())
	x.row(`<span class="tag">Accepted</span> <span dir="auto">by ` + string(d.ann.ID))
}
