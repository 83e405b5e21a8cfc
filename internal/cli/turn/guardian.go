package turn

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// GuardCmd renews a lease in the background, as long as the holder's process lives and others can't see it.
func GuardCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "guard", Hidden: true, Args: app.NoArgs,
		Short: "Keep a lease while its holder's process lives, if others can't see that process",
		RunE: func(c *cobra.Command, args []string) error {
			p := engine.KeepLeaseParams{}
			if err := json.NewDecoder(a.Input()).Decode(&p); err != nil {
				return stick.Errorf(stick.CodeUsage, "only tt itself starts a guardian")
			}

			e, _, err := a.Open()
			if err != nil {
				return err
			}

			p.PID = a.PID
			return e.KeepLease(c.Context(), p)
		},
	}
}
