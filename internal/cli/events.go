package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// eventCommands are the commands about the log.
func (a *app) eventCommands() []*cobra.Command { return []*cobra.Command{a.eventsCmd()} }

func (a *app) eventsCmd() *cobra.Command {
	var wait, follow bool
	var types []string
	var from string
	var f engine.EventFilter
	c := &cobra.Command{
		Use: "events [path]", Short: "Read the room's log, or follow it", Args: between(0, 1, "a path"),
		Long: "Read the newest events of the room, or those behind a cursor. --wait returns the next batch, --follow prints each\n" +
			"event as one line of JSON until it is interrupted. Both start now unless --after is given, and both only watch:\n" +
			"they write nothing, and they never bring the turn.",
	}
	fl := c.Flags()
	fl.BoolVar(&wait, "wait", false, "wait for the next events")
	fl.BoolVar(&follow, "follow", false, "print events as they come, one JSON line each")
	fl.StringSliceVar(&types, "event", nil, "only these types, separated by commas")
	fl.StringVar(&f.Target, "target", "", "self, any or an agent (default: self with --wait and --follow, else any)")
	fl.StringVar(&from, "from", "", "only events of this agent")
	fl.Int64Var(&f.After, "after", 0, "only events behind this cursor")
	fl.IntVar(&f.Limit, "limit", 50, "how many events at once, at most 500")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := where(args, 0, *path)
		if err != nil {
			return err
		}
		if wait && follow {
			return stick.Errorf(stick.CodeUsage, "--wait returns one batch and --follow goes on: give one of them")
		}
		if err := checkFilter(&f, types, from); err != nil {
			return err
		}
		now := !c.Flags().Changed("after")
		switch {
		case follow:
			return a.follow(c.Context(), w, f, now)
		case wait:
			return a.nextEvents(c.Context(), w, f, now)
		}
		e, by, err := a.open()
		if err != nil {
			return err
		}
		res, err := e.GetRoomEvents(c.Context(), engine.GetRoomEventsParams{Caller: by, Where: w, EventFilter: f, FromStart: !now})
		if err != nil {
			return err
		}
		return a.print(res, func(p *page) { p.events(res, now) })
	}
	return c
}

// checkFilter completes a filter and refuses what can't match anything.
func checkFilter(f *engine.EventFilter, types []string, from string) error {
	if f.Limit < 1 || f.Limit > 500 {
		return stick.Errorf(stick.CodeUsage, "--limit lies between 1 and 500").With("field", "limit")
	}
	if f.After < 0 {
		return stick.Errorf(stick.CodeUsage, "--after is the cursor of an earlier answer, not %d", f.After).With("field", "after")
	}
	known := map[stick.EventType]bool{}
	var names []string
	for _, t := range stick.EventTypes {
		known[t.Type] = true
		names = append(names, string(t.Type))
	}
	for _, t := range types {
		if !known[stick.EventType(t)] {
			return stick.Errorf(stick.CodeUsage, "there is no event type %q", stick.Clip(t, 40)).With("field", "event").
				Hintf("the types are %s", strings.Join(names, ", "))
		}
		f.Types = append(f.Types, stick.EventType(t))
	}
	for _, a := range []string{from, f.Target} {
		if a == "" || a == engine.TargetAny || a == engine.TargetSelf {
			continue
		}
		if _, err := stick.ParseAgentID(a); err != nil {
			return err
		}
	}
	f.From = stick.AgentID(from)
	return nil
}

// events tells a batch: the newest ones, or those behind a cursor.
func (p *page) events(res engine.EventsResult, newest bool) {
	if res.More && newest {
		p.linef("%s", p.faint("older ones are hidden: --limit, or --after <cursor>"))
	}
	for _, e := range res.Events {
		p.linef("%6d  %-10s %s", e.Seq, p.ago(e.CreatedAt), e.Say())
	}
	if len(res.Events) == 0 {
		p.linef("no events")
	}
	if res.More && !newest {
		p.linef("%s", p.faint(fmt.Sprintf("there are more: --after %d", res.Cursor)))
	}
	p.linef("%s", p.faint(fmt.Sprintf("cursor %d", res.Cursor)))
}

// nextEvents waits for one batch.
func (a *app) nextEvents(ctx context.Context, w engine.Where, f engine.EventFilter, now bool) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}
	ctx, stop := a.untilUnheard(ctx)
	defer stop()
	res, err := e.WaitForEvents(ctx, engine.WaitForEventsParams{Caller: by, Where: w, EventFilter: f, FromNow: now})
	if err != nil {
		return err
	}
	return a.print(res, func(p *page) { p.events(res, false) })
}

// follow prints events until it is interrupted or nobody reads them any more; both are a clean
// end, with the cursor on standard error.
func (a *app) follow(ctx context.Context, w engine.Where, f engine.EventFilter, now bool) error {
	e, by, err := a.open()
	if err != nil {
		return err
	}
	ctx, stop := a.untilUnheard(ctx)
	defer stop()
	out := json.NewEncoder(a.Stdout)
	for {
		res, err := e.WaitForEvents(ctx, engine.WaitForEventsParams{Caller: by, Where: w, EventFilter: f, FromNow: now})
		if err != nil && !isCanceled(err) {
			return err
		}
		now = false
		f.After = max(f.After, res.Cursor)
		if res.RoomID != "" {
			w = engine.Where{RoomID: res.RoomID} // it follows this room, whatever becomes of the path
		}
		for i, ev := range res.Events {
			if werr := out.Encode(ev); werr != nil { // closed: what wasn't written comes again with the cursor
				f.After = ev.Seq - 1
				if i > 0 {
					f.After = res.Events[i-1].Seq
				}
				err = werr
				break
			}
		}
		if err != nil {
			fmt.Fprintf(a.Stderr, "cursor %d\n", f.After)
			return nil
		}
	}
}
