// Package full has the commands that only tt-full has: what they need would cost each start of tt.
package full

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/cli/demo"
	"talkingstick/internal/cli/mcp"
	"talkingstick/internal/cli/watch"
)

// Commands are the commands that tt hands over.
func Commands() []app.Command {
	return []app.Command{
		{Name: "demo", Make: func(a *app.Run) *cobra.Command { return demo.Cmd(a, watch.Demo) }},
		{Name: "mcp", Make: mcp.Cmd},
		{Name: "notify", Make: watch.NotifyCmd},
		{Name: "serve", Make: watch.ServeCmd},
		{Name: "watch", Make: watch.Cmd},
	}
}
