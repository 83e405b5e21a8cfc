package web

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"talkingstick/internal/engine"
	"talkingstick/internal/scene"
	"talkingstick/stick"
)

// asked is a room in which claude has asked ann something.
func asked(t *testing.T) (d *desk, claude *scene.Actor, room string, id int64) {
	s := scene.New(t)
	claude = s.Agent("claude:a")
	claude.Try().Granted(1)
	d = newDesk(s, nil)
	d.ann.JoinPath(engine.JoinPathParams{}).OK()
	id = claude.SendAs(engine.SendMessageParams{
		To: []stick.AgentID{d.ann.ID}, Body: "which database?", Category: "BLOCKED", TaskID: "db-1",
	}).ID()
	return d, claude, string(s.Room().ID), id
}

// TestReplyAndAccept: a question can be answered wherever it is shown, and one button answers and accepts it.
func TestReplyAndAccept(t *testing.T) {
	d, claude, room, id := asked(t)
	number := strconv.FormatInt(id, 10)
	at := "/room/" + room + "/message/" + number
	x := d.stream("/needs", nil)
	x.part("needs", "waits for your answer")
	for _, path := range []string{"/needs", "/inbox", at, "/room/" + room} {
		has(t, d.ok(path), "Reply and accept", `name="reply_to" value="`+number+`"`)
	}
	has(t, d.ok("/needs"), `href="`+at+`"`) // and not the page of the task, which says nothing of the message

	a := d.fill("send_message", url.Values{
		"room_id": {room}, "to": {string(claude.ID)}, "reply_to": {number}, "body": {"PostgreSQL"},
		"accept": {"true"}, "back": {at},
	})
	if a.status != http.StatusSeeOther || a.header.Get("Location") != at {
		t.Fatalf("Reply and accept: %d %s", a.status, a.body)
	}

	x.part("needs", "Nothing needs you")
	in := claude.Inbox().Messages
	got := claude.GetMessage(engine.GetMessageParams{MessageID: id}).OK()
	if got.Receipts[0].State != stick.Acked || len(in) == 0 || in[0].ReplyTo != id || in[0].Body != "PostgreSQL" {
		t.Fatalf("claude got %+v, and its question is %+v", in, got.Receipts)
	}

	// The two lead to each other, and what is accepted can still be answered.
	reply := "/room/" + room + "/message/" + strconv.FormatInt(in[0].MessageID, 10)
	page := d.ok(at)
	has(t, page, ">Answers<", "PostgreSQL", `href="`+reply+`"`, ">Reply<")
	if strings.Contains(page, "Reply and accept") {
		t.Error("what was accepted asks for it again")
	}

	has(t, d.ok(reply), "answers <a", `href="`+at+`"`)
	has(t, d.ok("/room/"+room), "answers <a", `href="`+reply+`"`)
	has(t, d.ok("/inbox?show=all"), "answered by", `href="`+reply+`"`)
	has(t, d.ok("/inbox?show=sent"), "answers <a", `href="`+at+`"`)
}

// TestReplyAlone: a reply doesn't accept a message, and what still waits is said.
func TestReplyAlone(t *testing.T) {
	d, claude, room, id := asked(t)
	form := url.Values{
		"room_id": {room}, "to": {string(claude.ID)}, "reply_to": {strconv.FormatInt(id, 10)},
		"body": {"PostgreSQL"}, "back": {"/inbox"},
	}
	x := d.stream("/needs", nil)
	if a := d.fill("send_message", form); a.status != http.StatusSeeOther {
		t.Fatalf("Reply: %d %s", a.status, a.body)
	}

	x.part("needs", "has your answer and waits until you accept")
	if got := claude.GetMessage(engine.GetMessageParams{MessageID: id}).OK(); got.Receipts[0].State == stick.Acked {
		t.Error("a reply alone has accepted the message")
	}

	// What can't be accepted is answered all the same, and the page says so.
	claude.Withdraws(id).OK()
	form.Set("accept", "true")
	if a := d.fill("send_message", form); a.status == http.StatusSeeOther ||
		!strings.Contains(a.body, "your reply is sent, but the message isn&#39;t accepted") {
		t.Errorf("a message that was withdrawn: %d %s", a.status, a.body)
	}
}
