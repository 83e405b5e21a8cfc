package workspace

import (
	"path/filepath"
	"testing"
	"time"
)

func TestPushed(t *testing.T) {
	dir := tree(t)
	const line = "0000000000000000000000000000000000000000 1111111111111111111111111111111111111111 Ann <a@b> "
	const logs = "app/logs/refs/remotes/origin/"
	write(t,
		dir, "none/",
		logs+"main="+line+"1000 +0100\tupdate by push\n"+line+"2000 +0100\tfetch: fast-forward\n",
		logs+"other=damaged\tupdate by push\n\n")

	for _, c := range []struct {
		name, common, branch string
		since                int64
		pushed, known        bool
	}{
		{"a push then", "app", "main", 1000, true, true},
		{"a push before", "app", "main", 1001, false, true},
		{"a damaged log", "app", "other", 0, false, true},
		{"another branch", "app", "ain", 0, false, true},
		{"no logs", "none", "main", 0, false, false},
	} {
		pushed, known := WasPushed(filepath.Join(dir, c.common), c.branch, time.Unix(c.since, 0))
		if pushed != c.pushed || known != c.known {
			t.Errorf("%s: %v, %v", c.name, pushed, known)
		}
	}
}
