package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/scene"
)

// TestProof: a page and its stream bring questions, each another one, which their server answers to
// everybody.
func TestProof(t *testing.T) {
	d := newDesk(scene.New(t), nil)
	page := d.ok("/needs")
	first := proof{between(page, `data-ask="`, `"`), between(page, `data-answer="`, `"`)}
	x := d.stream("/needs", nil)
	second := x.until("the first message", func(told) bool { return true }).Proof
	if second == nil || first.Ask == second.Ask || first.Ask == "" {
		t.Fatalf("the page asks %v, and the stream %v", first, second)
	}

	for _, p := range []proof{first, *second} {
		res, err := http.Get(d.at("/enter?ask=" + url.QueryEscape(p.Ask)))
		if err != nil {
			t.Fatal(err)
		}
		a := readAnswer(t, res)
		if a.status != http.StatusOK || a.body != p.Answer || len(a.header["Set-Cookie"]) != 0 {
			t.Errorf("%s is answered %d %s, want %s", p.Ask, a.status, a.body, p.Answer)
		}
	}

	// What doesn't change by itself has no stream, and nothing to ask.
	if strings.Contains(d.ok("/inbox?show=all"), "data-ask") {
		t.Error("a page without a stream asks")
	}
}

// TestProof_Restart: the same server answers when it is started again, and no other does.
func TestProof_Restart(t *testing.T) {
	const address = "127.0.0.1:8321"
	ann := core.Caller{User: "ann", Person: true}
	now, dir := time.Unix(1e9, 0), t.TempDir()
	before := keysAt(&now, dir, address, ann)
	before.redeemInvite(before.makeInvite(0))
	p := before.newProof()
	if keysAt(&now, dir, address, ann).answerProof(p.Ask) != p.Answer {
		t.Error("the same server has another answer")
	}

	for name, other := range map[string]*keys{
		"another port":      keysAt(&now, dir, "127.0.0.1:8322", ann),
		"another directory": keysAt(&now, t.TempDir(), address, ann),
		"another caller":    keysAt(&now, dir, address, core.Caller{User: "ann", Harness: "claude"}),
		"nothing kept":      keysAt(&now, "", address, ann),
	} {
		if other.answerProof(p.Ask) == p.Answer {
			t.Errorf("%s: it has the same answer", name)
		}
	}
}
