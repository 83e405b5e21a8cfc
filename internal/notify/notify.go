// Package notify tells a person what needs them: each need once, by whatever reaches somebody who doesn't
// look at the terminal.
package notify

import (
	"context"
	"path"
	"strings"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Notice is a need of which a person is told now.
type Notice struct {
	RoomID stick.RoomID `json:"room_id"`
	Path   string       `json:"canonical_path"`
	presence.Need
}

// Sentence is the notice in one line, with the name of the room's directory.
func (n Notice) Sentence() stick.Words {
	if n.Path == "" {
		return n.Text
	}
	return stick.Wordsf("%s: %s", path.Base(strings.ReplaceAll(n.Path, `\`, "/")), n.Text)
}

// Operations are those that a teller performs.
type Operations interface {
	TakeNotices(context.Context, engine.TakeNoticesParams) (engine.TakeNoticesResult, error)
}

// Teller finds out of which needs its person wasn't told.
type Teller struct {
	Operations Operations
	Caller     core.Caller

	asked map[string]bool // the needs about which it has asked the database, by room and key
}

// Untold returns those needs in a picture of which the person is to be told now. Nobody else tells the person
// of them. What couldn't be asked about because of an error is asked about with the next picture.
func (t *Teller) DueNotices(ctx context.Context, p *monitor.Picture) (untold []Notice, err error) {
	if t.asked == nil {
		t.asked = map[string]bool{}
	}

	for _, r := range p.Rooms {
		var keys []string
		for _, n := range r.Needs {
			if !t.asked[string(r.ID())+" "+n.Key] {
				keys = append(keys, n.Key)
			}
		}

		if len(keys) == 0 {
			continue
		}

		res, terr := t.Operations.TakeNotices(ctx, engine.TakeNoticesParams{
			Caller: t.Caller, Where: core.Where{RoomID: r.ID()}, Keys: keys,
		})
		if terr != nil {
			err = terr
			continue
		}

		// Whoever tells the person of these, nobody has to ask again.
		for _, key := range keys {
			t.asked[string(r.ID())+" "+key] = true
		}

		for _, n := range r.Needs {
			for _, key := range res.Keys {
				if n.Key == key {
					untold = append(untold, Notice{r.ID(), r.State.Path, n})
				}
			}
		}
	}

	return untold, err
}
