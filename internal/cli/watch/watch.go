// Package watch shows rooms to people: on the screen, in a browser, by notices, and in the demo.
package watch

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/monitor"
	"talkingstick/internal/notify"
	"talkingstick/internal/task"
	"talkingstick/internal/term"
	"talkingstick/internal/tui"
	"talkingstick/stick"
	"talkingstick/stick/presence"
)

// Cmd makes tt watch.
func Cmd(a *app.Run) *cobra.Command {
	c := &cobra.Command{
		Use: "watch [path]", Short: app.WatchShort,
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Show all your rooms on the terminal: what needs you, " +
			"who has the stick and who waits for it, what each agent does, tasks, and the last\n" +
			"events. It stays up to date until you leave it with q. " +
			"The last line says what the keys do for the row that is selected; ? explains\n" +
			"them all. With a path or --room it shows that room only. " +
			"Without a terminal it prints how everything looks now.",
	}

	path := app.AddPlaceFlags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := path.WhereOf(args, 0)
		if err != nil {
			return err
		}
		return watchRooms(c.Context(), a, w)
	}

	return c
}

// watchRooms shows rooms until its reader has enough. Without a terminal it shows them once.
func watchRooms(ctx context.Context, a *app.Run, w core.Where) error {
	a.Reads = true
	if in, out, ok := screenTerminal(a); ok && !a.JSON {
		return lookAt(ctx, a, tui.Options{Where: w, In: in, Out: out})
	}

	e, by, err := openForWatching(a)
	if err != nil {
		return err
	}

	p, err := monitor.TakePicture(ctx, monitor.Options{Operations: e, Caller: by, Where: w})
	if err != nil {
		return err
	}

	if a.JSON {
		return a.Print(watchedRooms(p), nil)
	}
	if err := a.Sayf("tt: this is how everything looks now; on a terminal tt watch keeps it up to date"); err != nil {
		return err
	}

	pg := a.NewPage()
	a.Write(tui.Text(p, pg.Now, a.Home, pg.Width, pg.Color))
	return nil
}

// screenTerminal returns the terminal at which somebody sits, if that can show a screen.
func screenTerminal(a *app.Run) (in, out *os.File, ok bool) {
	in, isFile := a.Stdin.(*os.File)
	out, toFile := a.Stdout.(*os.File)
	return in, out, isFile && toFile && tui.IsTerminal(in) && tui.IsTerminal(out) && a.Getenv("TERM") != "dumb"
}

// lookAt shows the screen. o says where, and what it shows.
func lookAt(ctx context.Context, a *app.Run, o tui.Options) error {
	a.OnScreen = true
	e, by, err := openForWatching(a)
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()

	// An agent under a name, and a screen that only looks, get no notices.
	if by.ActsAsPerson() && !o.Looks {
		tells, err := newTeller(ctx, a, e, by, func(err error) { a.Logf("watch: %v", err) })
		if err != nil {
			return err
		}

		o.Tell = func(p *monitor.Picture) string { return notify.TerminalOf(a.Getenv).Signal(tells(p)) }
	}

	o.Operations, o.Caller, o.Term, o.Home, o.Color = e, by, a.Getenv("TERM"), a.Home, a.NewPage().Color
	o.ASCII = !term.IsUTF8(a.Getenv)
	o.Jump = paneSwitcher(a)
	return tui.Run(ctx, o)
}

// openForWatching opens the operations for several readers at a time, and resolves the caller.
func openForWatching(a *app.Run) (app.Operations, core.Caller, error) {
	a.Several = true
	return a.Open()
}

// WatchResult is how all watched rooms look.
type WatchResult struct {
	At      stick.Time    `json:"at"`
	AgentID stick.AgentID `json:"agent_id"` // who watches
	Rooms   []watchedRoom `json:"rooms"`    // those in which somebody is needed come first
	Hidden  int           `json:"hidden,omitempty"`
}

// watchedRoom is a room in a [WatchResult].
type watchedRoom struct {
	engine.GetRoomStateResult
	Needs  []presence.Need       `json:"needs"` // what waits for the one who watches, the most urgent first
	Work   []task.TaskView       `json:"tasks"` // the newest first
	Paused []task.QueuePause     `json:"paused_queues,omitempty"`
	Inbox  []engine.InboxMessage `json:"inbox"`
	Events []stick.Event         `json:"events"` // the last ones, the oldest first
}

func watchedRooms(p *monitor.Picture) WatchResult {
	res := WatchResult{At: p.At, AgentID: p.Me, Rooms: []watchedRoom{}, Hidden: p.Hidden}
	for _, r := range p.Rooms {
		res.Rooms = append(res.Rooms, watchedRoom{
			r.State, append([]presence.Need{}, r.Needs...), append([]task.TaskView{}, r.Tasks...), r.Paused,
			append([]engine.InboxMessage{}, r.Inbox...),
			append([]stick.Event{}, r.Events...),
		})
	}
	return res
}
