package stick_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

func TestPolicy(t *testing.T) {
	t.Run("defaults", func(t *testing.T) {
		p := stick.DefaultPolicy()
		for key, want := range map[string]string{
			"owner_lease_ttl": "45m", "heartbeat_interval": "5m", "claim_ttl": "20m", "presence_ttl": "4h",
			"waiter_grace":   "10s",
			"owner_idle_ttl": "45m", "order": "fair",
		} {
			sticktest.Equal(t, key, p.Get(key), want)
		}
		sticktest.Equal(t, "an unknown key", p.Get("colour"), "")
	})

	t.Run("the table is complete", func(t *testing.T) {
		seen := map[string]bool{}
		for _, k := range stick.PolicyKeys {
			sticktest.Equal(t, k.Name+" twice", seen[k.Name], false)
			sticktest.Equal(t, k.Name+" has a meaning", k.Meaning != "", true)
			seen[k.Name] = true
		}
	})

	t.Run("JSON", func(t *testing.T) {
		p := stick.DefaultPolicy()
		p.ClaimTTL, p.Order = 1500*time.Millisecond, stick.Sequence
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}

		want := `{"claim_ttl_ms":1500,"enforce":"warn","enforce_checkouts":"holder","heartbeat_interval_ms":300000,"order":"sequence","owner_idle_ttl_ms":2700000,` +
			`"owner_lease_ttl_ms":2700000,"presence_ttl_ms":14400000,"require_contracts":false,"snapshots":"on","wait_for_events_max_wait_ms":110000,"wait_for_turn_max_wait_ms":110000,"waiter_grace_ms":10000}`
		sticktest.Equal(t, "JSON", string(b), want)
		var q stick.Policy
		if err := json.Unmarshal(b, &q); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(p, q); d != "" {
			t.Error(d)
		}
	})

	t.Run("JSON of what waits for the next turn", func(t *testing.T) {
		p := stick.DefaultPolicy()
		p.NextTurn = stick.Limits{ClaimTTL: time.Minute, WaiterGrace: time.Second}
		b, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "next_turn",
			strings.Contains(string(b), `"next_turn":{"claim_ttl_ms":60000,"waiter_grace_ms":1000}`), true)

		var q stick.Policy
		if err := json.Unmarshal(b, &q); err != nil {
			t.Fatal(err)
		}
		sticktest.Equal(t, "read again", q, p)
	})

	t.Run("what is missing keeps its default, but a room without enforce is off", func(t *testing.T) {
		var p stick.Policy
		if err := json.Unmarshal([]byte(`{"claim_ttl_ms": 60000, "later": true}`), &p); err != nil {
			t.Fatal(err)
		}
		want := stick.DefaultPolicy()
		want.ClaimTTL, want.Enforce = time.Minute, stick.EnforceOff
		if d := cmp.Diff(want, p); d != "" {
			t.Error(d)
		}
	})

	for _, bad := range []string{`[]`, `{"next_turn": 1}`, `{"claim_ttl_ms": "1m"}`, `{"order": 1}`} {
		t.Run("not "+bad, func(t *testing.T) {
			var p stick.Policy
			sticktest.Equal(t, "error", json.Unmarshal([]byte(bad), &p) != nil, true)
		})
	}
}

func TestPolicySet(t *testing.T) {
	for _, c := range []struct{ key, value, field string }{
		{"claim_tll", "20m", "key"},
		{"claim_ttl", "20", "claim_ttl"},
		{"claim_ttl", "", "claim_ttl"},
		{"claim_ttl", "99ms", "claim_ttl"},
		{"claim_ttl", "-5m", "claim_ttl"},
		{"claim_ttl", "721h", "claim_ttl"},
		{"order", "random", "order"},
		{"require_contracts", "yes", "require_contracts"},
	} {
		t.Run("refuses "+c.key+"="+c.value, func(t *testing.T) {
			p, err := stick.DefaultPolicy().Set(c.key, c.value)
			sticktest.Refused(t, err, stick.CodeUsage, map[string]any{"field": c.field})
			sticktest.Equal(t, "policy", p, stick.DefaultPolicy())
		})
	}

	t.Run("names the nearest key", func(t *testing.T) {
		_, err := stick.DefaultPolicy().Set("claim_tll", "20m")
		sticktest.Equal(t, "hint", stick.AsError(err).Hint.String(), "did you mean claim_ttl? tt policy lists all")
	})

	t.Run("what was set is what is got", rapid.MakeCheck(func(t *rapid.T) {
		p := stick.DefaultPolicy()
		want := map[string]string{}
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			k := rapid.SampledFrom(stick.PolicyKeys).Draw(t, "key")
			var value string
			switch {
			case len(k.Words()) > 0:
				value = rapid.SampledFrom(k.Words()).Draw(t, "word")
			default:
				value = (time.Duration(rapid.Int64Range(100, stick.MaxPolicyDuration.Milliseconds()).Draw(t, "ms")) * time.Millisecond).String()
			}

			var err error
			if p, err = p.Set(k.Name, value); err != nil {
				t.Fatalf("set %s=%s: %v", k.Name, value, err)
			}
			want[k.Name] = p.Get(k.Name)

			if len(k.Words()) == 0 {
				a, _ := time.ParseDuration(value)
				b, err := time.ParseDuration(p.Get(k.Name))
				if a != b || err != nil {
					t.Fatalf("%s was set to %s and is %s", k.Name, value, p.Get(k.Name))
				}
			}

			again, err := p.Set(k.Name, p.Get(k.Name))
			if err != nil || again != p {
				t.Fatalf("what is got can't be set: %v", err)
			}
		}

		for k, v := range want {
			if p.Get(k) != v {
				t.Fatalf("%s changed with another key", k)
			}
		}
	}))
}

func TestSetPolicy(t *testing.T) {
	t.Run("one event for several changes", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("b").WithPolicy("claim_ttl=30m", "order=sequence")
		e := f.Log[len(f.Log)-1]
		sticktest.Equal(t, "type", e.Type, stick.EventPolicyChanged)
		sticktest.Equal(t, "to the owner", e.To, "b")
		sticktest.Equal(t, "claim_ttl", sticktest.Said[stick.PolicyChangedPayload](e).Policy["claim_ttl"],
			stick.Change{From: "20m", To: "30m"})
		sticktest.Equal(t, "order", sticktest.Said[stick.PolicyChangedPayload](e).Policy["order"],
			stick.Change{From: "fair", To: "sequence"})
		sticktest.Equal(t, "policy", f.Policy.ClaimTTL, 30*time.Minute)
	})

	t.Run("only a person takes back what was required", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("require_contracts=true")
		_, _, err := f.SetPolicy("a", false, []string{"require_contracts=false", "claim_ttl=30m"}, f.Now)
		sticktest.Refused(t, err, stick.CodePersonOnly, map[string]any{"field": "require_contracts"})
		r, events, err := f.SetPolicy("human:x", true, []string{"require_contracts=false"}, f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "events", len(events), 1)
		sticktest.Equal(t, "required", r.Policy.RequireContracts, false)
	})
	t.Run("what is required stays so when an agent changes something else", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a").WithPolicy("require_contracts=true", "enforce_checkouts=all")
		r, _, err := f.SetPolicy("a", false, []string{"claim_ttl=30m"}, f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "policy", r.Policy.ClaimTTL, 30*time.Minute)
	})
	t.Run("only a person switches snapshots off", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		sticktest.Equal(t, "a new room keeps them", edits.KeepsSnapshots(f.Room), true)
		_, _, err := f.SetPolicy("a", false, []string{"snapshots=off"}, f.Now)
		sticktest.Refused(t, err, stick.CodePersonOnly, map[string]any{"field": "snapshots"})

		r, events, err := f.SetPolicy("human:x", true, []string{"snapshots=off"}, f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		sticktest.Equal(t, "it keeps them", edits.KeepsSnapshots(r), false)
		f.Commit(r, events)
		r, _, err = f.SetPolicy("a", false, []string{"snapshots=on"}, f.Now)
		sticktest.Equal(t, "on again, by an agent", stick.CodeOf(err), "")
		sticktest.Equal(t, "it keeps them again", edits.KeepsSnapshots(r), true)

		r.Policy.Enforce = stick.EnforceOff
		sticktest.Equal(t, "a room that enforces nothing", edits.KeepsSnapshots(r), false)
	})

	t.Run("snapshots of rooms from before, and of a word that isn't known", func(t *testing.T) {
		for text, want := range map[string]bool{
			`{"enforce":"warn"}`: true, `{"enforce":"warn","snapshots":"weekly"}`: true,
			`{"enforce":"warn","snapshots":"off"}`: false,
		} {
			r := stick.Room{}
			if err := json.Unmarshal([]byte(text), &r.Policy); err != nil {
				t.Fatal(err)
			}
			sticktest.Equal(t, text, edits.KeepsSnapshots(r), want)
		}
	})

	t.Run("what is set already", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		_, events, err := f.SetPolicy("a", true, []string{"claim_ttl=20m", "order=sequence", "order=fair"}, f.Now)
		sticktest.Equal(t, "events", len(events), 0)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
	})

	t.Run("all or nothing", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a")
		for _, bad := range []string{"order=up", "claim_ttl", "=", "x=1"} {
			r, events, err := f.SetPolicy("a", true, []string{"claim_ttl=30m", bad}, f.Now)
			sticktest.Refused(t, err, stick.CodeUsage, nil)
			sticktest.Equal(t, "events", len(events), 0)
			sticktest.Equal(t, "policy", r.Policy, stick.DefaultPolicy())
		}
	})
}

// TestLoweredLimits: what protects a turn or a reservation of another isn't shortened by an agent while it
// lasts.
func TestLoweredLimits(t *testing.T) {
	limits := []string{"owner_lease_ttl", "claim_ttl", "waiter_grace", "owner_idle_ttl"}
	set := func(f *sticktest.Fixture, by stick.AgentID, person bool, change ...string) []stick.Event {
		t.Helper()
		r, events, err := f.SetPolicy(by, person, change, f.Now)
		sticktest.Equal(t, "error", stick.CodeOf(err), "")
		f.Commit(r, events)
		return events
	}

	for _, key := range limits {
		t.Run(key+" from the next turn on", func(t *testing.T) {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("b")
			was := f.Policy.Get(key)
			e := set(f, "a", false, key+"=2s")[0]
			sticktest.Equal(t, "now", f.Policy.Get(key), was)
			sticktest.Equal(t, "from the next turn", f.Policy.Next(key), "2s")
			sticktest.Equal(t, "now, says the event", len(sticktest.Said[stick.PolicyChangedPayload](e).Policy), 0)
			sticktest.Equal(t, "later, says the event",
				sticktest.Said[stick.PolicyChangedPayload](e).NextTurn[key],
				stick.Change{From: was, To: "2s"})
			sticktest.Equal(t, "in words",
				e.Say(), stick.Words("a changed "+key+" from "+was+" to 2s as of the next turn"))
			sticktest.Equal(t, "the owner is told", e.To, "b")
			sticktest.Equal(t, "once", len(set(f, "a", false, key+"=2s")), 0)

			f.Releases().Owns("a")
			sticktest.Equal(t, "in the next turn", f.Policy.Get(key), "2s")
			sticktest.Equal(t, "nothing waits", f.Policy.NextTurn, stick.Limits{})
		})
	}

	for name, c := range map[string]struct {
		f      func() *sticktest.Fixture
		by     stick.AgentID
		person bool
		now    string
	}{
		"a person lowers it at once": {
			func() *sticktest.Fixture { return sticktest.NewRoom(t).WithMembers("a", "b").Owns("b") },
			"human:x",
			true,
			"1m",
		},
		"the owner itself": {
			func() *sticktest.Fixture { return sticktest.NewRoom(t).WithMembers("a", "b").Owns("b") },
			"b",
			false,
			"1m",
		},
		"nobody holds the stick": {
			func() *sticktest.Fixture { return sticktest.NewRoom(t).WithMembers("a", "b") }, "a", false, "1m",
		},
		"it is reserved for another": {
			func() *sticktest.Fixture { return sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b") },
			"a",
			false,
			"20m",
		},
		"the stick is reserved for it": {
			func() *sticktest.Fixture { return sticktest.NewRoom(t).WithMembers("a", "b").Owns("a").Passes("b") },
			"b",
			false,
			"1m",
		},
		"a limit that protects nobody": {func() *sticktest.Fixture {
			return sticktest.NewRoom(t).WithMembers("a", "b").Owns("b").WithPolicy("claim_ttl=5s")
		}, "a", false, "1m"},
		"lowered by an agent, then again": {func() *sticktest.Fixture {
			f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("b")
			set(f, "a", false, "claim_ttl=1s")
			return f
		}, "human:x", true, "1m"},
	} {
		t.Run(name, func(t *testing.T) {
			f := c.f()
			e := set(f, c.by, c.person, "claim_ttl=1m")[0]
			sticktest.Equal(t, "now", f.Policy.Get("claim_ttl"), c.now)

			if c.now == "1m" {
				sticktest.Equal(t, "from the next turn", f.Policy.Next("claim_ttl"), "")
				sticktest.Equal(t, "the event",
					sticktest.Said[stick.PolicyChangedPayload](e).Policy["claim_ttl"].To, "1m")
			}
		})
	}

	t.Run("taken back before the next turn", func(t *testing.T) {
		f := sticktest.NewRoom(t).WithMembers("a", "b").Owns("b")
		set(f, "a", false, "claim_ttl=1s", "order=sequence")
		e := set(f, "a", false, "claim_ttl=20m")[0]
		sticktest.Equal(t, "the event", sticktest.Said[stick.PolicyChangedPayload](e).Policy["claim_ttl"],
			stick.Change{From: "1s", To: "20m"})
		f.Releases().Owns("a")
		sticktest.Equal(t, "in the next turn", f.Policy.Get("claim_ttl"), "20m")
	})
}
