package app

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"talkingstick/internal/term"
	"talkingstick/stick"
)

// TestHandoffFields: every field of a handoff has a flag, by which it reaches the handoff, and is shown.
func TestHandoffFields(t *testing.T) {
	for _, f := range stick.HandoffFields {
		var h HandoffFlags
		c := &cobra.Command{
			Use: "release", SilenceErrors: true, SilenceUsage: true,
			RunE: func(*cobra.Command, []string) error { return nil },
		}
		h.AddFlags(c)
		c.SetArgs([]string{"--" + f.Flag, "what " + f.Name + " holds"})

		if err := c.Execute(); err != nil {
			t.Errorf("%s: %v", f.Name, err)
			continue
		}
		got, err := h.ReadHandoff(nil)
		if err != nil || got == nil {
			t.Errorf("%s: %+v, %v", f.Name, got, err)
			continue
		}

		p := &term.Page{}
		p.ShowHandoff(*got)
		if want := "  " + f.Label + ": what " + f.Name + " holds"; !strings.Contains(string(p.Text()), want) {
			t.Errorf("%s isn't shown: %q lacks %q", f.Name, string(p.Text()), want)
		}
	}
}
