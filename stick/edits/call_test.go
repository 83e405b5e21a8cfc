package edits_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"talkingstick/stick"
	"talkingstick/stick/edits"
)

// Letters are snapshots, in the order in which they were made, a second apart. A call begins with one and
// ends with one.
func TestCallParts(t *testing.T) {
	at := func(id string) stick.Time { return stick.Time(1000 + 1000*int64(id[0]-'a')) }
	call := func(agent stick.AgentID, before, after string) edits.Call {
		c := edits.Call{Agent: agent, Checkout: "/app", Before: before, After: after, Started: at(before)}
		if after != "" {
			c.Ended = at(after)
		}
		return c
	}

	own := call("claude", "c", "g")

	for name, c := range map[string]struct {
		others []edits.Call
		want   string // parts; those in which another call ran too have a ~
		beside bool
	}{
		"nobody else":   {nil, "cg", false},
		"before it":     {[]edits.Call{call("codex", "a", "b")}, "cg", false},
		"after it":      {[]edits.Call{call("codex", "h", "i")}, "cg", false},
		"in its middle": {[]edits.Call{call("codex", "d", "e")}, "cd ~de eg", true},
		"twice in its middle": {
			[]edits.Call{call("codex", "d", "e"), call("codex", "e", "f")}, "cd ~de ~ef fg", true,
		},
		"two that overlap": {[]edits.Call{call("codex", "d", "f"), call("pi", "e", "f")}, "cd ~de ~ef fg", true},
		"begun before it":  {[]edits.Call{call("codex", "a", "d")}, "~cd dg", true},
		"ended after it":   {[]edits.Call{call("codex", "f", "h")}, "cf ~fg", true},
		"around it":        {[]edits.Call{call("codex", "a", "h")}, "~cg", true},
		"still running":    {[]edits.Call{call("codex", "e", "")}, "ce ~eg", true},
		"its own":          {[]edits.Call{call("claude", "d", "e")}, "cg", false},
		"in another checkout": {
			[]edits.Call{{Agent: "codex", Checkout: "/lib", Before: "d", After: "e", Started: at("d"), Ended: at("e")}},
			"cg",
			false,
		},
		"which changed nothing":   {[]edits.Call{call("codex", "d", "d")}, "cd dg", true},
		"with its first snapshot": {[]edits.Call{call("codex", "c", "d")}, "~cd dg", true},
	} {
		t.Run(name, func(t *testing.T) {
			now := at("z")
			var got []string
			for _, s := range own.Parts(c.others, now) {
				mark := "~"
				if s.Alone {
					mark = ""
				}
				got = append(got, mark+s.From+s.To)
			}

			if strings.Join(got, " ") != c.want {
				t.Errorf("the parts are %q, not %q", got, c.want)
			}
			if beside := own.Overlaps(c.others, now); beside != c.beside {
				t.Errorf("another ran beside it: %v", beside)
			}
		})
	}
}

func TestCallParts_NoSnapshots(t *testing.T) {
	for _, c := range []edits.Call{{}, {Before: "a"}, {After: "a"}, {Before: "a", After: "a"}} {
		if got := c.Parts(nil, 1); got != nil {
			t.Errorf("%+v has %v", c, got)
		}
	}
}

// A call whose end nobody has seen, because its harness was killed, doesn't count for ever.
func TestCallParts_LostCall(t *testing.T) {
	lost := edits.Call{Agent: "codex", Checkout: "/app", Before: "a", Started: 1000}
	hour := stick.Time(time.Hour.Milliseconds())
	own := edits.Call{
		Agent: "claude", Checkout: "/app", Before: "b", After: "c", Started: 2 * hour, Ended: 2*hour + 1000,
	}

	if own.Overlaps([]edits.Call{lost}, own.Ended) {
		t.Error("it counts after two hours")
	}
	got, want := own.Parts([]edits.Call{lost}, own.Ended), []edits.CallPart{{From: "b", To: "c", Alone: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the parts are %v", got)
	}

	lost.Started = own.Started - hour/2
	if !own.Overlaps([]edits.Call{lost}, own.Ended) {
		t.Error("it doesn't count after half an hour")
	}
}
