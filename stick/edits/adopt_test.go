package edits_test

import (
	"fmt"
	"slices"
	"testing"

	"talkingstick/stick"
	"talkingstick/stick/edits"
	"talkingstick/stick/sticktest"
)

func TestClaimOwn(t *testing.T) {
	r := stick.Room{Policy: stick.Policy{Enforce: stick.EnforceWarn}}
	pat := edits.Editor{Agent: "human:pat", Turn: 3, At: 5}
	claim := pat
	claim.Claim = true

	a, unknown := edits.Editor{Agent: "a", Held: true}, edits.Editor{At: 2}
	for _, c := range []struct {
		name   string
		before []edits.Editor
		not    bool
		after  []edits.Editor // nil if it is no news
	}{
		{name: "nobody's", before: []edits.Editor{unknown}, after: []edits.Editor{claim}},
		{name: "another's too", before: []edits.Editor{a, unknown}, after: []edits.Editor{a, claim}},
		{name: "without a row before", after: []edits.Editor{claim}},
		{name: "said before", before: []edits.Editor{a, claim}},
		{name: "said before, and changed since", before: []edits.Editor{claim, unknown}, after: []edits.Editor{claim}},
		{name: "noted before, and not said", before: []edits.Editor{pat, a}, after: []edits.Editor{a, claim}},
		{name: "not any more", before: []edits.Editor{a, claim}, not: true, after: []edits.Editor{a, {At: 5}}},
		{
			name: "not any more, of somebody else's too", before: []edits.Editor{claim, unknown}, not: true,
			after: []edits.Editor{{At: 5}},
		},
		{name: "never said", before: []edits.Editor{a, unknown}, not: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := edits.EditedFile{Path: "a.go", Editors: slices.Clone(c.before)}
			out, err := edits.Mine(r, pat, true, c.not, []edits.EditedFile{file})
			if err != nil {
				t.Fatal(err)
			}

			if c.after == nil {
				sticktest.Equal(t, "news", len(out), 0)
				return
			}

			sticktest.Equal(t, "editors", fmt.Sprint(out[0].Editors), fmt.Sprint(c.after))
			sticktest.Equal(t, "what was given", fmt.Sprint(file.Editors), fmt.Sprint(c.before))
		})
	}

	_, err := edits.Mine(r, a, false, false, []edits.EditedFile{{Path: "a.go"}})
	sticktest.Refused(t, err, stick.CodePersonOnly, nil)
	_, err = edits.Mine(stick.Room{Policy: stick.Policy{Enforce: stick.EnforceOff}}, pat, true, false, nil)
	sticktest.Refused(t, err, stick.CodeNotEnforced, map[string]any{"enforce": stick.EnforceOff})

	r.Closed = true
	_, err = edits.Mine(r, pat, true, false, nil)
	sticktest.Refused(t, err, stick.CodeRoomClosed, nil)
}

func TestAdopt(t *testing.T) {
	r := stick.Room{
		ID: "r", Turn: stick.Turn{ID: 4}, Policy: stick.Policy{Enforce: stick.EnforceStick},
		Members: []stick.Member{{Agent: "a"}, {Agent: "b", State: stick.Left}, {Agent: "c"}},
	}
	by := edits.Editor{Agent: "a", Turn: 4, Held: true, At: 9}
	files := []edits.EditedFile{
		{Path: "1", Editors: []edits.Editor{{Agent: "b"}, {At: 3}}},
		{Path: "2", Editors: []edits.Editor{{Agent: "c"}, {Agent: "a"}, {Agent: "b", Held: true}}},
		{Path: "3", Editors: []edits.Editor{{Agent: "stranger"}}},
	}

	out, events, err := edits.Adopt(r, edits.Adoption{By: by, Reason: " why ", Rescue: "id"}, files)
	if err != nil {
		t.Fatal(err)
	}

	for i, f := range out {
		sticktest.Equal(t, "editors of "+f.Path, fmt.Sprint(f.Editors), fmt.Sprint([]edits.Editor{by}))
		sticktest.Equal(t, "path", f.Path, files[i].Path)
	}

	sticktest.Equal(t, "events", len(events), 2)
	for i, want := range []struct {
		to    stick.AgentID
		paths []string
		say   stick.Words
	}{
		{"b", []string{"1", "2"}, `a made the changes of b to 2 files, first 1 its own; rescue id has a copy: "why"`},
		{"c", []string{"2"}, `a made the changes of c to 2 its own; rescue id has a copy: "why"`},
	} {
		e := events[i]
		p, _ := stick.PayloadOf[stick.ChangesAdoptedPayload](e)
		sticktest.Equal(t, "type", e.Type, stick.EventChangesAdopted)
		sticktest.Equal(t, "recipient", e.To, want.to)
		sticktest.Equal(t, "turn", e.Turn, 4)
		sticktest.Equal(t, "payload", fmt.Sprint(p),
			fmt.Sprint(stick.ChangesAdoptedPayload{Paths: want.paths, Count: len(want.paths), Rescue: "id"}))
		sticktest.Equal(t, "sentence", e.Say(), want.say)
	}

	by.Agent, by.Held = "human:pat", false
	out, _, err = edits.Adopt(r, edits.Adoption{By: by, Reason: "why"}, files[:1])
	sticktest.Equal(t, "a person's claim", err == nil && out[0].Editors[0].Claim, true)
	_, _, err = edits.Adopt(stick.Room{Policy: stick.Policy{Enforce: stick.EnforceOff}},
		edits.Adoption{By: by, Reason: "why"}, files)
	sticktest.Refused(t, err, stick.CodeNotEnforced, nil)
	sticktest.Refused(t, edits.Adoption{Reason: " "}.Check(), stick.CodeUsage, map[string]any{"field": "reason"})
	sticktest.Refused(t, edits.Adoption{Reason: "a\x00"}.Check(), stick.CodeUsage, map[string]any{"field": "reason"})
	sticktest.Equal(t, "with a reason", edits.Adoption{Reason: "why"}.Check(), nil)
}
