package watch

import "testing"

func TestPaneOf(t *testing.T) {
	const panes = "10 %0 $0:@0\n20 %1 $0:@1\n30 %2 $1:@2\nodd\nx %9 $1:@9\n"
	for _, c := range []struct {
		chain        []int
		pane, window string
	}{
		{[]int{20}, "%1", "$0:@1"},
		{[]int{99, 98, 30, 1}, "%2", "$1:@2"},
		{[]int{99, 20, 10}, "%1", "$0:@1"},
		{[]int{99, 1}, "", ""},
		{nil, "", ""},
	} {
		if pane, window := paneOf(panes, c.chain); pane != c.pane || window != c.window {
			t.Errorf("%v runs in %q of %q, want %q of %q", c.chain, pane, window, c.pane, c.window)
		}
	}
}
