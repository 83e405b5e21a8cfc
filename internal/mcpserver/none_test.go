package mcpserver

import "testing"

// TestAServerThatStandsBack: beside another server of ours, one offers no tools and gives no instructions.
func TestAServerThatStandsBack(t *testing.T) {
	d := newDesk(t)
	d.o.None = true
	c := d.client()
	res, err := c.ListTools(t.Context(), nil)
	if err != nil || len(res.Tools) != 0 {
		t.Errorf("it offers %d tools (%v)", len(res.Tools), err)
	}
	if says := c.InitializeResult().Instructions; says != "" {
		t.Errorf("it says %q", says)
	}
}
