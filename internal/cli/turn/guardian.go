package turn

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine"
	"talkingstick/stick"
)

// guardOrder tells a guardian what to do. It goes through standard input, because everybody can read a
// command line, and the lease is secret.
type guardOrder struct {
	Room    stick.RoomID  `json:"room_id"`
	Owner   stick.AgentID `json:"owner"`
	Turn    int64         `json:"turn_id"`
	Lease   stick.LeaseID `json:"lease_id"`
	Process stick.Process `json:"process"`
}

// GuardCmd renews a lease in the background, as long as the holder's process lives and others can't see it.
func GuardCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "guard", Hidden: true, Args: app.NoArgs,
		Short: "Keep a lease while its holder's process lives, if others can't see that process",
		RunE: func(c *cobra.Command, args []string) error {
			var o guardOrder
			if err := json.NewDecoder(a.Input()).Decode(&o); err != nil {
				return stick.Errorf(stick.CodeUsage, "only tt itself starts a guardian")
			}

			e, _, err := a.Open()
			if err != nil {
				return err
			}

			return e.KeepLease(c.Context(), engine.KeepLeaseParams{
				RoomID: o.Room, Owner: o.Owner, Fence: stick.Fence{Turn: o.Turn, Lease: o.Lease},
				Process: o.Process, PID: a.PID,
			})
		},
	}
}

// StartGuardian starts a guardian if a grant needs one. Nothing depends on it: without it the lease runs out,
// like any other whose holder can't be seen.
func StartGuardian(ctx context.Context, a *app.Run, g *engine.Grant) {
	if g == nil || !g.NeedsGuardian || a.Exe == "" {
		return
	}

	// The lease is secret, so it isn't an argument.
	order, err := json.Marshal(guardOrder{
		Room: g.RoomID, Owner: g.AgentID, Turn: g.TurnID, Lease: g.LeaseID, Process: a.Caller.Process,
	})
	if err != nil {
		return
	}

	pid, err := app.StartDetached(a.Exe, []string{a.Exe, "guard"}, order, nil)
	if err != nil {
		_ = a.Sayf("tt: no guardian could be started; renew your lease yourself: tt heartbeat")
		return
	}

	g.GuardianPID = pid
	g.LeaseKeptBy = stick.KeptByGuardian
}
