package rescue

import (
	"encoding/json"
	"sync"

	"github.com/spf13/cobra"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/engine/guard/restore"
	"talkingstick/stick"
)

// LateSnapshots are those for which a hook had too little time.
type LateSnapshots struct {
	mu   sync.Mutex // a decision may go on after the limit of the hook
	list []restore.LateSnapshot
}

// Add notes a snapshot to finish. Several goroutines may call it.
func (l *LateSnapshots) Add(s restore.LateSnapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

// FinishLater starts a process that finishes snapshots, and doesn't wait for it. If it can't be started, the
// next call makes another snapshot.
func FinishLater(a *app.Run, late *LateSnapshots) {
	late.mu.Lock()
	defer late.mu.Unlock()
	if len(late.list) == 0 || a.Exe == "" {
		return
	}

	if in, err := json.Marshal(late.list); err == nil {
		_, _ = app.StartDetached(a.Exe, []string{a.Exe, "rescue", "finish"}, nil, in, nil)
	}
}

// rescueFinishCmd finishes the snapshots that a hook names on standard input, with more time than a hook has.
func rescueFinishCmd(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use: "finish", Hidden: true, Args: app.NoArgs, Short: "Finish snapshots for which a hook had too little time",
		RunE: func(c *cobra.Command, args []string) error {
			var late []restore.LateSnapshot
			if err := json.NewDecoder(c.InOrStdin()).Decode(&late); err != nil {
				return stick.Errorf(stick.CodeUsage, "standard input must name snapshots, as JSON: %v", err)
			}

			e, by, err := a.Open()
			if err != nil {
				return err
			}
			return e.FinishSnapshots(c.Context(), by, late)
		},
	}
}
