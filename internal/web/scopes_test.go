package web

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"talkingstick/internal/scene"
)

// TestWhoseUncommittedWork: the pages say whose the uncommitted files are: of whoever holds the stick, and
// apart from that of others.
func TestWhoseUncommittedWork(t *testing.T) {
	s := scene.InGit(t)
	claude, codex := s.Agent("claude:a"), s.Agent("codex:b")
	s.Joins(claude, codex)
	claude.Try().Granted(1)
	claude.Edits(func() { s.File("mine.go", "x") }, "mine.go")
	d := newDesk(s, nil)
	room := "/room/" + string(s.Room().ID)

	held := "1 uncommitted file of " + claude.ShownName() + ", who holds the stick"
	for _, path := range []string{room, "/scopes"} {
		page := d.ok(path)
		has(t, page, held)
		if strings.Contains(page, "of others") || strings.Contains(page, "of earlier holders") {
			t.Errorf("%s knows others whose work it is", path)
		}
	}

	has(t, d.ok(room+"/scopes"), "<bdi>"+claude.ShownName()+", who holds the stick</bdi>")

	diff := room + "/uncommitted?of=" + url.QueryEscape(string(claude.ID))
	has(t, d.ok(room+"/scopes"), `href="`+room+`/uncommitted?of=claude`, `href="`+room+`/uncommitted"`)
	has(t, d.ok(diff), "1 uncommitted file", "mine.go", "&#43;x", claude.ShownName()+", who holds the stick")

	codex.Edits(func() { s.File("other.go", "x") }, "other.go")
	if page := d.ok(diff); strings.Contains(page, "other.go") {
		t.Errorf("among what one agent has edited there is what another has:\n%s", page)
	}

	has(t, d.ok(room+"/uncommitted"), "2 uncommitted files", "mine.go", "other.go")
	x := d.stream(room, nil)
	x.part("turn", held)
	x.part("turn", "1 uncommitted file of others: "+codex.ShownName())
	claude.Release("done", "go on").OK()
	codex.Try().Granted(2)
	x.part("turn", "1 uncommitted file of "+codex.ShownName()+", who holds the stick")
	x.part("turn", "1 uncommitted file of earlier holders of the stick: "+claude.ShownName())
}

// TestUndoACall: the page of the scopes lists the tool calls that have changed files, each with a button that
// takes it back.
func TestUndoACall(t *testing.T) {
	s := scene.InGit(t)
	claude := s.Agent("claude:a")
	s.Joins(claude)
	s.Commit("a.go", "a")
	d := newDesk(s, nil)
	page := "/room/" + string(s.Room().ID) + "/scopes"
	has(t, d.ok(page), "No tool call has changed a file.")
	claude.Edits(func() { s.File("a.go", "x") }, "a.go")

	has(t, d.ok(page), "Edit a.go", "1 file", `name="call_id" value="1"`)
	status, got := d.call("undo_call", doc{"room_id": string(s.Room().ID), "call_id": 1})
	if b, err := os.ReadFile(filepath.Join(s.Work, "a.go")); status != 200 || err != nil || string(b) != "a" {
		t.Errorf("%d %v: %q, %v", status, got, b, err)
	}
	has(t, d.ok(page), "tt undo 1", `name="call_id" value="2"`)
}
