package stick

import (
	"fmt"
	"slices"
	"testing"
)

func TestMine(t *testing.T) {
	r := Room{Policy: Policy{Enforce: EnforceWarn}}
	pat := Editor{Agent: "human:pat", Turn: 3, At: 5}
	claim := pat
	claim.Claim = true
	a, unknown := Editor{Agent: "a", Held: true}, Editor{At: 2}
	for _, c := range []struct {
		name   string
		before []Editor
		not    bool
		after  []Editor // nil if it is no news
	}{
		{name: "nobody's", before: []Editor{unknown}, after: []Editor{claim}},
		{name: "another's too", before: []Editor{a, unknown}, after: []Editor{a, claim}},
		{name: "without a row before", after: []Editor{claim}},
		{name: "said before", before: []Editor{a, claim}},
		{name: "said before, and changed since", before: []Editor{claim, unknown}, after: []Editor{claim}},
		{name: "noted before, and not said", before: []Editor{pat, a}, after: []Editor{a, claim}},
		{name: "not any more", before: []Editor{a, claim}, not: true, after: []Editor{a, {At: 5}}},
		{name: "not any more, of somebody else's too", before: []Editor{claim, unknown}, not: true, after: []Editor{{At: 5}}},
		{name: "never said", before: []Editor{a, unknown}, not: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := EditedFile{Path: "a.go", Editors: slices.Clone(c.before)}
			out, err := r.Mine(pat, true, c.not, []EditedFile{file})
			if err != nil {
				t.Fatal(err)
			}
			if c.after == nil {
				equal(t, "news", len(out), 0)
				return
			}
			equal(t, "editors", fmt.Sprint(out[0].Editors), fmt.Sprint(c.after))
			equal(t, "what was given", fmt.Sprint(file.Editors), fmt.Sprint(c.before))
		})
	}
	_, err := r.Mine(a, false, false, []EditedFile{{Path: "a.go"}})
	refused(t, err, CodePersonOnly, nil)
	_, err = Room{Policy: Policy{Enforce: EnforceOff}}.Mine(pat, true, false, nil)
	refused(t, err, CodeNotEnforced, map[string]any{"enforce": EnforceOff})
	r.Closed = true
	_, err = r.Mine(pat, true, false, nil)
	refused(t, err, CodeRoomClosed, nil)
}

func TestAdopt(t *testing.T) {
	r := Room{ID: "r", Turn: Turn{ID: 4}, Policy: Policy{Enforce: EnforceStick}, Members: []Member{{Agent: "a"}, {Agent: "b", State: Left}, {Agent: "c"}}}
	by := Editor{Agent: "a", Turn: 4, Held: true, At: 9}
	files := []EditedFile{
		{Path: "1", Editors: []Editor{{Agent: "b"}, {At: 3}}},
		{Path: "2", Editors: []Editor{{Agent: "c"}, {Agent: "a"}, {Agent: "b", Held: true}}},
		{Path: "3", Editors: []Editor{{Agent: "stranger"}}},
	}
	out, events, err := r.Adopt(Adoption{By: by, Reason: " why ", Rescue: "id"}, files)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range out {
		equal(t, "editors of "+f.Path, fmt.Sprint(f.Editors), fmt.Sprint([]Editor{by}))
		equal(t, "path", f.Path, files[i].Path)
	}
	equal(t, "events", len(events), 2)
	for i, want := range []struct {
		to    AgentID
		paths []string
		say   Words
	}{
		{"b", []string{"1", "2"}, `a made the changes of b to 2 files, first 1 its own; rescue id has a copy: "why"`},
		{"c", []string{"2"}, `a made the changes of c to 2 its own; rescue id has a copy: "why"`},
	} {
		e := events[i]
		p, _ := PayloadOf[ChangesAdoptedPayload](e)
		equal(t, "type", e.Type, EventChangesAdopted)
		equal(t, "recipient", e.To, want.to)
		equal(t, "turn", e.Turn, 4)
		equal(t, "payload", fmt.Sprint(p), fmt.Sprint(ChangesAdoptedPayload{Paths: want.paths, Count: len(want.paths), Rescue: "id"}))
		equal(t, "sentence", e.Say(), want.say)
	}
	by.Agent, by.Held = "human:pat", false
	out, _, err = r.Adopt(Adoption{By: by, Reason: "why"}, files[:1])
	equal(t, "a person's claim", err == nil && out[0].Editors[0].Claim, true)
	_, _, err = Room{Policy: Policy{Enforce: EnforceOff}}.Adopt(Adoption{By: by, Reason: "why"}, files)
	refused(t, err, CodeNotEnforced, nil)
	refused(t, Adoption{Reason: " "}.Check(), CodeUsage, map[string]any{"field": "reason"})
	refused(t, Adoption{Reason: "a\x00"}.Check(), CodeUsage, map[string]any{"field": "reason"})
	equal(t, "with a reason", Adoption{Reason: "why"}.Check(), nil)
}
