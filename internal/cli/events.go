package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// eventCommands are the commands about the log.
func (a *app) eventCommands() []*cobra.Command { return []*cobra.Command{a.eventsCmd(), a.notesCmd()} }

// streamFlags are the ways to read a stream of events: those in the log, the next batch, or each one as it comes.
type streamFlags struct {
	wait, follow bool
	types        []string
	from, name   string
	filter       engine.EventFilter
	timeout      timeoutFlag
	limit        *int64 // in milliseconds, nil for none
	command      *cobra.Command
}

func (s *streamFlags) add(c *cobra.Command, target string) {
	s.command = c
	f := c.Flags()
	f.SetNormalizeFunc(otherWords)
	f.BoolVar(&s.wait, "wait", false, "wait for the next batch")
	s.timeout.add(c, "with --wait: return after this time (default: wait for ever)")
	f.BoolVar(&s.follow, "follow", false, "print each one as it comes, as a line of JSON")
	f.StringVar(&s.filter.Target, "target", "", "for whom: self, any or an agent ("+target+")")
	f.StringVar(&s.from, "from", "", "only from this agent")
	f.StringVar(&s.filter.TaskID, "task", "", "only about this task (also --bead)")
	f.Int64Var(&s.filter.After, "after", 0, "only what comes after this cursor")
	f.StringVar(&s.name, "name", "", "with --wait or --follow: continue your stream of this name")
	f.IntVar(&s.filter.Limit, "limit", 50, "at most this many at once (up to 500)")
}

// run reads the stream.
func (s *streamFlags) run(a *app, ctx context.Context, w core.Where, text func(*page, engine.EventsResult, bool)) error {
	if err := s.check(); err != nil {
		return err
	}
	a.reads = true
	newest := !s.command.Flags().Changed("after")
	if !s.wait && !s.follow {
		return answer(a, func(e operations, by core.Caller) (engine.EventsResult, error) {
			return e.GetRoomEvents(ctx, engine.GetRoomEventsParams{Caller: by, Where: w, EventFilter: s.filter, FromStart: !newest})
		}, func(p *page, res engine.EventsResult) { text(p, res, newest) })
	}
	e, by, err := a.open()
	if err != nil {
		return err
	}
	st := &stream{a: a, e: e, name: s.name, p: engine.WaitForEventsParams{
		Caller: by, Where: w, EventFilter: s.filter, FromNow: newest, Name: s.name, MaxWaitMS: s.limit,
	}}
	if s.follow {
		return st.follow(ctx)
	}
	return st.next(ctx, text)
}

// check completes the filter. It refuses a filter that can't match anything.
func (s *streamFlags) check() (err error) {
	f := &s.filter
	if s.limit, err = s.timeout.get(s.command); err != nil {
		return err
	}
	switch {
	case s.limit != nil && !s.wait:
		return stick.Errorf(stick.CodeUsage, "--timeout limits a wait: use it with --wait").With("field", "timeout")
	case s.wait && s.follow:
		return stick.Errorf(stick.CodeUsage, "--wait returns one batch and --follow keeps going: use one or the other")
	case f.Limit < 1 || f.Limit > 500:
		return stick.Errorf(stick.CodeUsage, "--limit must be between 1 and 500").With("field", "limit")
	case f.After < 0:
		return stick.Errorf(stick.CodeUsage, "--after must be the cursor of an earlier answer, not %d", f.After).With("field", "after")
	case s.name != "" && !s.wait && !s.follow:
		return stick.Errorf(stick.CodeUsage, "--name continues a stream: use it with --wait or --follow").With("field", "name")
	case s.name != "" && (s.command.Flags().Changed("after") || f.Target == engine.TargetAny):
		return stick.Errorf(stick.CodeUsage, `a named stream keeps its own cursor and is only for you: leave out --after and "--target any"`).With("field", "name")
	}
	known := map[stick.EventType]bool{}
	var names []string
	for _, t := range stick.EventTypes {
		known[t.Type] = true
		names = append(names, string(t.Type))
	}
	for _, t := range s.types {
		if !known[stick.EventType(t)] {
			return stick.Errorf(stick.CodeUsage, "there is no event type %q", stick.Clip(t, 40)).With("field", "event").
				Hintf("the types are %s", strings.Join(names, ", "))
		}
		f.Types = append(f.Types, stick.EventType(t))
	}
	for _, a := range []string{s.from, f.Target} {
		if a == "" || a == engine.TargetAny || a == engine.TargetSelf {
			continue
		}
		if _, err := stick.ParseAgentID(a); err != nil {
			return err
		}
	}
	f.From = stick.AgentID(s.from)
	return nil
}

func (a *app) eventsCmd() *cobra.Command {
	var s streamFlags
	c := &cobra.Command{
		Use: "events [path]", Short: "Read the room's log, or follow it", Args: between(0, 1, "a path"),
		Long: "Read the newest events of the room, or those after a cursor. --wait returns the next batch, or not_yet after --timeout, both\n" +
			"with exit status 0. --follow prints each event as a line of JSON until you interrupt it. Both start now, unless you give --after\n" +
			"or --name. Both only watch: they never give you the turn, and they write nothing but the cursor of a named stream.",
	}
	s.add(c, "default: self with --wait and --follow, else any")
	c.Flags().StringSliceVar(&s.types, "event", nil, "only these types, separated by commas")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		return s.run(a, c.Context(), w, (*page).events)
	}
	return c
}

func (a *app) msgRecvCmd() *cobra.Command {
	var s streamFlags
	c := &cobra.Command{
		Use: "recv [path]", Short: "Read your messages as a stream", Args: between(0, 1, "a path"),
		Long: "Read your newest messages, or those after a cursor. --wait returns the next ones, or not_yet after --timeout. --follow prints\n" +
			"each as a line of JSON. It marks nothing as read. To hear about turns as well, use tt wait or tt events.",
	}
	s.add(c, "default: self")
	path := atPath(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.of(args, 0)
		if err != nil {
			return err
		}
		s.filter.Types = []stick.EventType{stick.EventMessageSent, stick.EventMessageWithdrawn}
		if s.filter.Target == "" {
			s.filter.Target = engine.TargetSelf
		}
		return s.run(a, c.Context(), w, (*page).messages)
	}
	return c
}

// events shows a batch: the newest events, or those after a cursor.
func (p *page) events(res engine.EventsResult, newest bool) {
	p.batch(res, newest, "events", func(e stick.Event) { p.linef("%6d  %-10s %s", e.Seq, p.ago(e.CreatedAt), e.Say()) })
}

// messages shows a batch of messages with their bodies.
func (p *page) messages(res engine.EventsResult, newest bool) {
	p.batch(res, newest, "messages", p.told)
}

func (p *page) batch(res engine.EventsResult, newest bool, what string, each func(stick.Event)) {
	if res.More && newest {
		p.linef("%s", p.faint("older ones are hidden: --limit, or --after <cursor>"))
	}
	for _, e := range res.Events {
		each(e)
	}
	switch {
	case res.Status == stick.NotYet:
		p.linef("not yet: no new %s", what)
	case len(res.Events) == 0:
		p.linef("no %s", what)
	}
	if res.More && !newest {
		p.linef("%s", p.faint(fmt.Sprintf("there are more: --after %d", res.Cursor)))
	}
	p.linef("%s", p.faint(fmt.Sprintf("cursor %d", res.Cursor)))
}

// stream is a stream of events to wait for.
type stream struct {
	a    *app
	e    operations
	name string
	p    engine.WaitForEventsParams
}

// next waits for one batch.
func (s *stream) next(ctx context.Context, text func(*page, engine.EventsResult, bool)) error {
	ctx, stop := s.a.untilUnheard(ctx)
	defer stop()
	res, err := s.e.WaitForEvents(ctx, s.p)
	if err != nil {
		return err
	}
	if err := s.a.print(res, func(p *page) { text(p, res, false) }); err != nil {
		return err
	}
	if !s.a.unheard {
		s.delivered(ctx, res.RoomID, res.Cursor)
	}
	return nil
}

// delivered moves the cursor of a named stream. If that fails, the events come again: each comes at least once.
func (s *stream) delivered(ctx context.Context, room stick.RoomID, cursor int64) {
	if s.name != "" {
		_ = s.e.StreamDelivered(context.WithoutCancel(ctx), s.p.Caller, room, s.name, cursor)
	}
}

// errUnheard ends following when an event can't be written.
var errUnheard = errors.New("an event can't be written")

// follow prints events until it is interrupted, or nobody reads them any more. In both cases it prints the cursor on
// standard error, and succeeds. It prints the cursor too when an event can't be written for another reason.
func (s *stream) follow(ctx context.Context) error {
	ctx, stop := s.a.untilUnheard(ctx)
	defer stop()
	unread := int64(-1) // the cursor before the first event that couldn't be written
	last, err := s.e.FollowEvents(ctx, s.p, func(res engine.EventsResult) error {
		for i, ev := range res.Events {
			b, err := json.Marshal(ev)
			if err != nil {
				return fmt.Errorf("print event: %w", err)
			}
			if s.a.write(plain(b) + "\n"); s.a.unheard { // the cursor stays before what wasn't written
				unread = ev.Seq - 1
				if i > 0 {
					unread = res.Events[i-1].Seq
				}
				s.delivered(ctx, res.RoomID, unread)
				return errUnheard
			}
		}
		s.delivered(ctx, res.RoomID, res.Cursor)
		return nil
	})
	switch {
	case unread >= 0:
		last.Cursor = unread
	case err != nil && !isCanceled(err):
		return err
	}
	if last.RoomID != "" { // else it has read nothing, and there is no cursor
		_ = s.a.sayf("cursor %d", last.Cursor)
	}
	return nil
}
