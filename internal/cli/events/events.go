// Package events shows the log of a room: its events as text, as a stream and as a timeline.
package events

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/engine/eventlog"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// streamFlags are the ways to read a stream of events: those in the log, the next batch, or each one as it
// comes.
type streamFlags struct {
	wait, follow bool
	words        bool // follow in words, and not in JSON
	types        []string
	from, name   string
	filter       eventlog.EventFilter
	timeout      app.TimeoutFlag
	limit        *int64        // in milliseconds, nil for none
	since        time.Duration // only what happened so long ago or later; 0 for all
	files        []string      // only events that name one of these, relative to the top level; empty for all
	command      *cobra.Command
}

func (s *streamFlags) addFlags(c *cobra.Command, target string) {
	s.addFilter(c)
	f := c.Flags()
	f.BoolVar(&s.wait, "wait", false, "wait for the next batch")
	s.timeout.AddFlag(c, "with --wait: return after this time (default: wait forever)")
	f.BoolVar(&s.follow, "follow", false, "print each one as it comes: in words on a terminal, else as a line of JSON")
	f.StringVar(&s.filter.Target, "target", "", "for whom: self, any or an agent ("+target+")")
	f.StringVar(&s.name, "name", "", "with --wait or --follow: continue your stream of this name")
}

// addFilter adds the flags that say which events to read.
func (s *streamFlags) addFilter(c *cobra.Command) {
	s.command = c
	f := c.Flags()
	f.SetNormalizeFunc(app.OtherWords)
	f.StringVar(&s.from, "from", "", "only from this agent")
	f.StringVar(&s.filter.TaskID, "task", "", "only about this task (also --bead)")
	f.Int64Var(&s.filter.After, "after", 0, "only what comes after this cursor")
	f.IntVar(&s.filter.Limit, "limit", 50, "at most this many at once (up to 500)")
}

// addSince adds the flag for the events of the last hours.
func (s *streamFlags) addSince(c *cobra.Command) {
	c.Flags().DurationVar(&s.since, "since", 0, "only what happened in this time, such as 24h (up to 500 events)")
}

// dropOlder leaves out the events that are older than the flag allows.
func (s *streamFlags) dropOlder(res *eventlog.EventsResult, now stick.Time) {
	if s.since == 0 {
		return
	}

	if i := slices.IndexFunc(res.Events, func(e stick.Event) bool { return now.Sub(e.CreatedAt) <= s.since }); i != 0 {
		// All that is older has been seen to be too old.
		if i < 0 {
			i = len(res.Events)
		}
		res.Events, res.More = res.Events[i:], false
	}
}

// readStream reads the stream. In words it shows each event by the function each, and calls all of them what.
func (s *streamFlags) readStream(
	a *app.Run, ctx context.Context, w core.Where, what stick.Words, each func(*term.Page, stick.Event),
) error {
	if err := s.completeFilter(); err != nil {
		return err
	}

	a.Reads = true

	// Without a cursor people and agents want the newest events.
	newest := !s.command.Flags().Changed("after")
	if !s.wait && !s.follow {
		return app.Answer(a, func(e app.Operations, by core.Caller) (eventlog.EventsResult, error) {
			res, err := e.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{
				Caller: by, Where: w, EventFilter: s.filter, FromStart: !newest,
			})
			s.dropOlder(&res, a.CurrentTime())
			s.dropOthers(&res)
			return res, err
		}, func(p *term.Page, res eventlog.EventsResult) {
			showBatch(p, res, newest, what, each)

			// Whoever reads a log goes on by time.
			if !s.words {
				showCursor(p, res)
			}
		})
	}

	e, by, err := a.Open()
	if err != nil {
		return err
	}

	st := &stream{a: a, e: e, name: s.name, p: eventlog.WaitForEventsParams{
		Caller: by, Where: w, EventFilter: s.filter, FromNow: newest, Name: s.name, MaxWaitMS: s.limit,
	}}

	if !s.follow {
		return st.printNextBatch(ctx, func(p *term.Page, res eventlog.EventsResult) {
			showBatch(p, res, false, what, each)
			showCursor(p, res)
		})
	}

	if s.words || a.TTY && !a.JSON {
		st.show = each
		if s.name == "" && s.filter.Target == "" {
			// A person wants to see everything.
			st.p.Target = eventlog.TargetAny
		}
	}

	if s.words && newest {
		if err := st.printHistory(ctx); err != nil {
			return err
		}
	}

	return st.followEvents(ctx)
}

// completeFilter completes the filter. It refuses a filter that can't match anything.
func (s *streamFlags) completeFilter() (err error) {
	f := &s.filter
	if s.limit, err = s.timeout.Milliseconds(s.command); err != nil {
		return err
	}

	if (s.since != 0 || len(s.files) > 0) && !s.command.Flags().Changed("limit") {
		f.Limit = 500
	}

	switch {
	case s.since < 0 || s.since > 0 && (s.wait || s.follow || s.command.Flags().Changed("after")):
		return stick.Errorf(stick.CodeUsage, "--since is a time such as 24h, for what has happened: "+
			"leave out --wait, --follow and --after").With("field", "since")
	case len(s.files) > 0 && s.follow:
		return stick.Errorf(stick.CodeUsage, "a file picks out of what has happened: leave out --follow")
	case s.limit != nil && !s.wait:
		return stick.Errorf(stick.CodeUsage, "--timeout limits a wait: use it with --wait").With("field", "timeout")
	case s.wait && s.follow:
		return stick.Errorf(stick.CodeUsage, "--wait returns one batch and --follow keeps going: use one or the other")
	case f.Limit < 1 || f.Limit > 500:
		return stick.Errorf(stick.CodeUsage, "--limit must be between 1 and 500").With("field", "limit")
	case f.After < 0:
		return stick.Errorf(stick.CodeUsage, "--after must be the cursor of an earlier answer, not %d", f.After).
			With("field", "after")
	case s.name != "" && !s.wait && !s.follow:
		return stick.Errorf(stick.CodeUsage, "--name continues a stream: use it with --wait or --follow").
			With("field", "name")
	case s.name != "" && (s.command.Flags().Changed("after") || f.Target == eventlog.TargetAny):
		return stick.Errorf(stick.CodeUsage,
			`leave out --after and "--target any": a named stream keeps its own cursor, and only for your events`).
			With("field", "name")
	}

	// An unknown type would match nothing, for ever.
	known := map[stick.EventType]bool{}
	var names []string
	for _, t := range stick.EventTypes {
		known[t.Type] = true
		names = append(names, string(t.Type))
	}

	for _, t := range s.types {
		if !known[stick.EventType(t)] {
			return stick.Errorf(stick.CodeUsage, "there is no event type %q", stick.Clip(t, 40)).With("field", "event").
				Hintf("the types are %s", stick.Names(names, len(names)))
		}

		f.Types = append(f.Types, stick.EventType(t))
	}

	for _, a := range []string{s.from, f.Target} {
		if a == "" || a == eventlog.TargetAny || a == eventlog.TargetSelf {
			continue
		}
		if _, err := stick.ParseAgentID(a); err != nil {
			return err
		}
	}

	f.From = stick.AgentID(s.from)
	return nil
}

// Cmd makes tt events.
func Cmd(a *app.Run) *cobra.Command {
	var s streamFlags
	c := &cobra.Command{
		Use: "events [path]", Short: "Read the room's log, or follow it", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Read the newest events of the room, or those after a cursor. " +
			"--wait returns the next batch, or not_yet after --timeout, both\n" +
			"with exit status 0. --follow prints each event as it comes, until you interrupt it: " +
			"all of them in words on a terminal, else a\n" +
			"line of JSON for each that is addressed to you. " +
			"Both start now, unless you give --after or --name. Both only watch: they never\n" +
			"give you the turn, and they write nothing but the cursor of a named stream.",
	}

	s.addFlags(c, "default: self with --wait and --follow, else any")
	s.addSince(c)
	c.Flags().StringSliceVar(&s.types, "event", nil, "only these types, separated by commas")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return s.readStream(a, c.Context(), w, "events", showEvent)
	}

	return c
}

// RecvCmd makes tt msg recv.
func RecvCmd(a *app.Run) *cobra.Command {
	var s streamFlags
	c := &cobra.Command{
		Use: "recv [path]", Short: "Read your messages as a stream", Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Read your newest messages, or those after a cursor. --wait returns the next ones, " +
			"or not_yet after --timeout. --follow prints\n" +
			"each as a line of JSON. It marks nothing as read. To hear about turns as well, use tt wait or tt events.",
	}

	s.addFlags(c, "default: self")
	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}

		s.filter.Types = []stick.EventType{stick.EventMessageSent, stick.EventMessageWithdrawn}
		if s.filter.Target == "" {
			s.filter.Target = eventlog.TargetSelf
		}

		return s.readStream(a, c.Context(), w, "messages", showTold)
	}

	return c
}

// showEvent shows an event, and how long ago it was.
func showEvent(p *term.Page, e stick.Event) {
	p.Linef("%6d  %-10s %s", e.Seq, p.Ago(e.CreatedAt), e.Say())
}

// showLoggedEvent shows an event with its time of day, because a line that stays on the screen grows old.
func showLoggedEvent(p *term.Page, e stick.Event) {
	p.Linef("%6d  %s  %s", e.Seq, p.Clock(e.CreatedAt), e.Say())
}

// showBatch shows the newest events, or those after a cursor.
func showBatch(p *term.Page, res eventlog.EventsResult, newest bool, what stick.Words, each func(*term.Page, stick.Event)) {
	if res.More && newest {
		p.Linef("%s", p.Faint("older ones are hidden: --limit, --since, or --after <cursor>"))
	}

	if res.PrunedTo > 0 {
		p.Linef("%s", p.Faint(term.Wordsf("%s", prunedText(res))))
	}
	for _, e := range res.Events {
		each(p, e)
	}

	switch {
	case res.Status == stick.NotYet:
		p.Linef("not yet: no new %s", what)
	case len(res.Events) == 0:
		p.Linef("no %s", what)
	}

	if res.More && !newest {
		p.Linef("%s", p.Faint(term.Wordsf("there are more: --after %d", res.Cursor)))
	}
}

// prunedText says what isn't among events, because it was removed.
func prunedText(res eventlog.EventsResult) stick.Words {
	return stick.Wordsf("up to event %d, tt prune has removed what nothing needs any longer", res.PrunedTo)
}

// showCursor says where a reader of events goes on.
func showCursor(p *term.Page, res eventlog.EventsResult) {
	p.Linef("%s", p.Faint(term.Wordsf("cursor %d", res.Cursor)))
}

// stream is a stream of events to wait for.
type stream struct {
	a    *app.Run
	e    app.Operations
	name string
	show func(*term.Page, stick.Event) // shows an event in words; nil: events are followed as JSON
	p    eventlog.WaitForEventsParams
}

// printHistory prints the newest events, and has the stream go on after them.
func (s *stream) printHistory(ctx context.Context) error {
	const some = 10

	// Somebody who follows wants to see what led here.
	f := s.p.EventFilter
	f.Limit = min(f.Limit, some)
	res, err := s.e.GetRoomEvents(ctx, eventlog.GetRoomEventsParams{Caller: s.p.Caller, Where: s.p.Where, EventFilter: f})
	if err != nil {
		return err
	}

	for _, ev := range res.Events {
		if err := s.printEvent(ev); err != nil {
			return err
		}
	}

	s.p.FromNow, s.p.After = false, res.Cursor
	return nil
}

// printNextBatch waits for one batch.
func (s *stream) printNextBatch(ctx context.Context, text func(*term.Page, eventlog.EventsResult)) error {
	ctx, stop := s.a.UntilUnheard(ctx)
	defer stop()
	res, err := s.e.WaitForEvents(ctx, s.p)
	if err != nil {
		return err
	}

	if err := s.a.Print(res, func(p *term.Page) { text(p, res) }); err != nil {
		return err
	}

	// The cursor moves only after somebody could read the batch.
	if !s.a.Unheard {
		s.moveCursor(ctx, res.RoomID, res.Cursor)
	}
	return nil
}

// moveCursor moves the cursor of a named stream. If that fails, the events come again: each comes at least
// once.
func (s *stream) moveCursor(ctx context.Context, room stick.RoomID, cursor int64) {
	if s.name != "" {
		_ = s.e.StreamDelivered(context.WithoutCancel(ctx), s.p.Caller, room, s.name, cursor)
	}
}

// printEvent prints an event, in words or as a line of JSON.
func (s *stream) printEvent(e stick.Event) error {
	if s.show != nil {
		p := s.a.NewPage()
		s.show(p, e)
		s.a.Write(p.Text())
		return nil
	}

	b, err := stick.JSON(e)
	if err != nil {
		return fmt.Errorf("print event: %w", err)
	}

	s.a.Write(app.PlainJSON(b) + "\n")
	return nil
}

// followEvents prints events until it is interrupted, or nobody reads them any more. In both cases it prints
// the cursor on standard error, and succeeds. It prints the cursor too when an event can't be written for
// another reason.
func (s *stream) followEvents(ctx context.Context) error {
	ctx, stop := s.a.UntilUnheard(ctx)
	defer stop()

	// This is the cursor before the first event that couldn't be written.
	unread := int64(-1)
	isTold := false
	last, err := s.e.FollowEvents(ctx, s.p, func(res eventlog.EventsResult) error {
		if res.PrunedTo > 0 && !isTold {
			isTold = true
			_ = s.a.Sayf("%s", prunedText(res))
		}
		for i, ev := range res.Events {
			if err := s.printEvent(ev); err != nil {
				return err
			}

			if s.a.Unheard {
				// The cursor stays before the event that wasn't written, so that it comes again.
				unread = ev.Seq - 1
				if i > 0 {
					unread = res.Events[i-1].Seq
				}

				s.moveCursor(ctx, res.RoomID, unread)
				return app.ErrUnheard
			}
		}

		s.moveCursor(ctx, res.RoomID, res.Cursor)
		return nil
	})

	switch {
	case unread >= 0:
		last.Cursor = unread
	case err != nil && !app.IsCanceled(err):
		return err
	}

	if last.RoomID != "" {
		// Without a room nothing was read, and there is no cursor.
		_ = s.a.Sayf("cursor %d", last.Cursor)
	}

	return nil
}
