package events

import (
	"context"
	"slices"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/monitor"
	"talkingstick/internal/term"
	"talkingstick/stick"
	"talkingstick/stick/presence"
	"talkingstick/stick/timeline"
)

// SeenResult is what has happened since the caller looked last, and what waits for it now.
type SeenResult struct {
	eventlog.GetDigestResult
	Needs []presence.Need `json:"needs"` // what waits for the caller, the most urgent first; none for an agent
}

// showSinceSeen shows what has happened since the caller looked last.
func showSinceSeen(ctx context.Context, a *app.Run, w core.Where) error {
	a.Reads = true
	e, by, err := a.Open()
	if err != nil {
		return err
	}

	// Only people have needs. They are read first: then the cursor doesn't pass what nobody was shown.
	res := SeenResult{Needs: []presence.Need{}}
	if by.ActsAsPerson() {
		p, err := monitor.TakeRoomPicture(ctx, monitor.Options{Operations: e, Caller: by, Where: w})
		if err != nil {
			return err
		}
		res.Needs = append(res.Needs, p.Rooms[0].Needs...)
	}

	if res.GetDigestResult, err = e.GetDigest(ctx, eventlog.GetDigestParams{Caller: by, Where: w}); err != nil {
		return err
	}
	if err := a.Print(res, func(p *term.Page) { showDigest(p, res) }); err != nil {
		return err
	}

	// The mark moves only after somebody could read the answer.
	if a.Unheard {
		return nil
	}
	return e.DigestDelivered(context.WithoutCancel(ctx), by, res.RoomID, res.Cursor)
}

// showDigest shows a digest on one screen.
func showDigest(p *term.Page, res SeenResult) {
	switch {
	case res.First && len(res.Agents) == 0:
		p.Linef("you look for the first time: so far nothing has landed, come back or been lost")
	case res.First:
		p.Linef("you look for the first time: this is what has happened so far")
	case len(res.Agents) == 0:
		p.Linef("since you looked %s, nothing landed, came back or was lost", p.Ago(res.Since))
	default:
		p.Linef("since you looked %s:", p.Ago(res.Since))
	}

	for _, d := range res.Agents {
		who := term.Wordsf("%s", d.Agent)
		if d.Agent == "" {
			who = "nobody's task"
		}
		p.Linef("%s", p.Strong(who))
		showFacts(p, "landed", d.Landed)
		showFacts(p, "came back", d.Back)
		showFacts(p, "lost", d.Lost)
	}

	if len(res.Needs) > 0 {
		p.Linef("%s", p.Strong("waits for you"))
	}
	for _, n := range res.Needs[:min(len(res.Needs), mostFacts)] {
		p.Linef("  %s, %s", n.Text, p.Ago(n.Since))
		if n.NextAction != "" {
			p.Linef("    next: %s", n.NextAction)
		}
	}
	if n := len(res.Needs) - mostFacts; n > 0 {
		p.Linef("  and %d more: %s", n, p.Next(stick.Cmd("tt status")))
	}

	if len(res.Agents) > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("all of it, event by event: %s",
			p.Next(stick.Cmd("tt log --after <cursor>", res.After)))))
	}
}

// sinceThen says what has become of a task that came back.
func sinceThen(f timeline.Fact) stick.Words {
	switch f.Now {
	case stick.TaskCompleted:
		return "; it has landed since"
	case stick.TaskInReview, stick.TaskApproved:
		return "; it is " + stick.Words(f.Now) + " again"
	}
	return ""
}

// mostFacts is how many facts of a kind are shown of an agent, so that all is on one screen.
const mostFacts = 5

// mostOfWhat is how much is shown of what a task asks for.
const mostOfWhat = 60

// showFacts shows facts of one kind, the newest first.
func showFacts(p *term.Page, kind stick.Words, facts []timeline.Fact) {
	if len(facts) == 0 {
		return
	}

	newest := slices.Clone(facts)
	slices.Reverse(newest)
	for i, f := range newest[:min(len(newest), mostFacts)] {
		if i > 0 {
			kind = ""
		}
		p.Linef("  %-10s %s, %s%s", kind, f.Text, p.Ago(f.At), sinceThen(f))
		if f.What != "" {
			p.Linef("  %-10s   %s: %q", "", f.Task, stick.Name(f.What).Cut(mostOfWhat))
		}
		if f.Report != "" {
			p.Linef("  %-10s   what the gate printed: %s", "",
				p.Next(stick.Cmd("tt task show --output <sum>", f.Report)))
		}
		if f.Rescue != "" {
			p.Linef("  %-10s   to bring it back: %s", "", p.Next(stick.Cmd("tt rescue restore <id>", f.Rescue)))
		}
	}

	if n := len(newest) - mostFacts; n > 0 {
		p.Linef("  %-10s and %d more", "", n)
	}
}
