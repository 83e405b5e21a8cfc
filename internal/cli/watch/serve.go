package watch

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/internal/engine/core"
	"talkingstick/internal/term"
	"talkingstick/internal/web"
	"talkingstick/stick"
)

// serveFlags are those of a server for browsers.
type serveFlags struct {
	addr     string
	hosts    []string
	open     bool
	anywhere bool
	signOut  bool
}

// ServeResult says where the pages are.
type ServeResult struct {
	Address string `json:"address"` // what the server listens on
	URL     string `json:"url"`     // opens the pages in one browser, once
}

// ServeCmd makes tt serve.
func ServeCmd(a *app.Run) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use: "serve [path]", Short: app.ServeShort,
		Args: app.ArgsBetween(0, 1, "a path"),
		Long: "Serve pages for a browser on this machine: the rooms, who does what, what needs you, your " +
			"inbox, tasks with their changes, and\n" +
			"reserved paths. They change as things happen. What you do there you do as yourself, by the " +
			"same operations as on the command line.\n" +
			"The address that it prints signs in one browser, once. With a path inside a room it leads " +
			"to that room's page.\n\n" +
			"Ctrl-C ends it. Browsers stay signed in: when you run tt serve again, it listens on the same\n" +
			"port if that is free, and open tabs keep working. \"Sign out\" on a page ends that for one\n" +
			"browser, --sign-out for all, and two weeks without use for any. An address works only once:\n" +
			"to get another, stop tt serve and run it again.\n\n" +
			"To reach it from a phone or another machine, use a tunnel of your own. With ssh: ssh -L\n" +
			"8321:127.0.0.1:8321 <this machine>, and tt serve --addr 127.0.0.1:8321. With Tailscale:\n" +
			"tailscale serve 8321, and tt serve --addr 127.0.0.1:8321 --host <name>, with the name that\n" +
			"tailscale prints. For the second browser, click \"Another device\" on a page, and replace the\n" +
			"start of the address that it shows with the one that this browser uses.",
	}

	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:0",
		"the address to listen on; port 0 means the last one used, or any free one")
	c.Flags().StringArrayVar(&f.hosts, "host", nil,
		"a name by which browsers may call the server, beside localhost; repeatable")
	c.Flags().BoolVar(&f.open, "open", false, "open the address in the default browser")
	c.Flags().BoolVar(&f.anywhere, "anywhere", false,
		"allow an --addr that other machines can reach, without encryption")
	c.Flags().BoolVar(&f.signOut, "sign-out", false, "first sign out all browsers that earlier runs have let in")
	at := app.AddPlaceFlags(c)

	c.RunE = func(c *cobra.Command, args []string) error {
		w, err := at.WhereOf(args, 0)
		if err != nil {
			return err
		}

		return servePages(c.Context(), a, w, f)
	}

	return c
}

// servePages serves until it is interrupted, which is its end and no failure.
func servePages(ctx context.Context, a *app.Run, w core.Where, f serveFlags) error {
	beyond, err := f.checkAddress()
	if err != nil {
		return err
	}

	if _, _, err := a.Open(); err != nil {
		return err
	}

	by := *a.Caller
	procs, err := a.Procs()
	if err != nil {
		return err
	}

	procs.OneHost = a.Database == ""
	cfg := a.KernelConfig(procs)

	// Requests come while others are answered.
	cfg.Alone = false
	a.Operations = app.NewOperations(
		cfg, app.Starters{Run: a.StartRun, Guardian: a.GuardianStarter(), Lander: a.LanderStarter()},
	)
	ops := a.Operations
	defer func() { _ = ops.Engine.Close() }()
	to, err := startPage(ctx, a, ops, by, w)
	if err != nil {
		return err
	}

	s := web.New(web.Options{
		Engine: ops.Engine, Tasks: ops.Tasks, Caller: by, Version: app.Version(),
		Hosts: f.hosts, AnyAddress: beyond, Sessions: filepath.Join(cfg.Dir, "browsers"),
	})
	if f.signOut {
		if err := s.SignOutAll(); err != nil {
			return stick.Errorf(stick.CodeDataDirNotWritable, "the browsers can't be signed out: %w", err).
				Hintf("%s", stick.Cmd("tt doctor"))
		}
	}

	// It listens before it prints its address, so that the address works.
	l, err := s.Listen(ctx, f.addr)
	if err != nil {
		return stick.Errorf(stick.CodeUsage, "tt can't listen on %s: %w", stick.Clip(f.addr, 60), err).
			With("field", "addr").
			Hintf("choose another port, or port 0 for any free one")
	}

	if beyond {
		_ = a.Sayf("warning: other machines can reach this address, and nothing is encrypted: " +
			"anyone who sees the traffic can act as you; a tunnel is safer, see tt serve --help")
	}

	res := ServeResult{Address: l.Addr().String(), URL: s.Address(l.Addr(), to)}
	if err := a.Print(res, func(p *term.Page) {
		p.Linef("open this in a browser; it works once, for one browser:")
		p.Linef("  %s", term.PlainText(res.URL))
		p.Linef("%s", p.Faint("Ctrl-C ends the server"))
	}); err != nil {
		return err
	}

	if f.open {
		openBrowser(ctx, a, res.URL)
	}

	if err := s.Serve(ctx, l); err != nil && !app.IsCanceled(err) {
		return err
	}

	return nil
}

// checkAddress refuses an address that other machines can reach, unless that is asked for. beyond reports
// whether they can.
func (f serveFlags) checkAddress() (beyond bool, err error) {
	host, _, err := net.SplitHostPort(f.addr)
	if err != nil {
		return false, stick.Errorf(stick.CodeUsage, "--addr must be an address and a port such as "+
			"127.0.0.1:8321, not %q", stick.Clip(f.addr, 60)).With("field", "addr")
	}

	for _, h := range f.hosts {
		if h == "" || strings.ContainsAny(h, ":/ ") {
			return false, stick.Errorf(stick.CodeUsage, "--host is a name without scheme and port, "+
				"such as box.example.ts.net, not %q", stick.Clip(h, 60)).With("field", "host")
		}
	}

	ip, err := netip.ParseAddr(host)
	if host == "localhost" || err == nil && ip.IsLoopback() {
		return false, nil
	}

	if !f.anywhere {
		return false, stick.Errorf(stick.CodeUsage, "other machines could reach %s, "+
			"and nothing would be encrypted", stick.Clip(f.addr, 60)).With("field", "addr").
			Hintf("leave out --addr to listen on 127.0.0.1, and reach it through a tunnel")
	}

	return true, nil
}

// startPage is the page of the room that w means: that of the working directory, if it is in one, unless
// another one is named.
func startPage(ctx context.Context, a *app.Run, ops app.Operations, by core.Caller, w core.Where) (string, error) {
	st, err := ops.GetRoomState(ctx, engine.GetRoomStateParams{Caller: by, Where: w})
	switch {
	case err == nil:
		return "/room/" + url.PathEscape(string(st.RoomID)), nil
	case w == (core.Where{}) && stick.CodeOf(err) == stick.CodeNoRoom:
		return "", nil
	}
	return "", err
}

// openBrowser opens an address. If that fails, the person opens it.
func openBrowser(ctx context.Context, a *app.Run, address string) {
	program, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}

	if err := exec.CommandContext(ctx, program, args...).Start(); err != nil {
		_ = a.Sayf("the browser can't be opened: %s", err)
	}
}
