package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"talkingstick/internal/testenv"
)

// TestUpgradeUnderWaits: programs of three versions meet in one database, in the story of
// testdata/upgrade.sh. The newer ones are built from these sources with one more migration each.
func TestUpgradeUnderWaits(t *testing.T) {
	if !*long {
		testenv.Leaves(t, testenv.Full, "programs of three versions in one database")
		t.Log("only with -release.long")
		return
	}

	needs(t, "unshare")
	if exec.Command("unshare", "--pid", "--fork", "--mount-proc", "true").Run() != nil {
		t.Skip("only root may make a namespace of processes, in a container that lets it")
	}

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	made(t)
	r := release{work: t.TempDir()}
	r.tree = filepath.Join(r.work, "tree")
	var err error
	if r.commit, err = checkOut(ctx, filepath.Join(madeDir, "git"), "HEAD", r.tree); err != nil {
		t.Fatal(err)
	}

	migrations := filepath.Join(r.tree, "internal", "store", "schema", "migrations")
	all, err := os.ReadDir(migrations)
	if err != nil {
		t.Fatal(err)
	}
	newest, err := os.ReadFile(filepath.Join(migrations, all[len(all)-1].Name()))
	if err != nil {
		t.Fatal(err)
	}

	still, _, _ := strings.Cut(string(newest), "\n")
	still, _, _ = strings.Cut(still, ".") // without its reason
	programs := []string{}
	for _, step := range []struct{ name, reader string }{
		{"older", ""}, {"adds", still}, {"breaks", fmt.Sprintf("-- min_reader: %d", len(all)+2)},
	} {
		if step.reader != "" {
			number := len(all) + len(programs)
			text := fmt.Sprintf("%s\nCREATE TABLE of_version_%d (id BIGINT PRIMARY KEY);\n", step.reader, number)
			if err := os.WriteFile(filepath.Join(migrations, fmt.Sprintf("%04d_next.sql", number)), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}

		r.work = filepath.Join(r.work, step.name)
		p, err := r.buildProgram(ctx, host)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, p.path)
	}

	script, err := filepath.Abs("testdata/upgrade.sh")
	if err != nil {
		t.Fatal(err)
	}
	shop := t.TempDir()
	c := exec.CommandContext(ctx, "unshare",
		append([]string{"--pid", "--fork", "--kill-child", "--mount-proc", "sh", script}, programs...)...)
	c.Dir, c.Env = shop, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "USER=pat"}
	if out, err := c.CombinedOutput(); err != nil || !strings.HasSuffix(string(out), "== all of it happened\n") {
		t.Errorf("%v\n%s", err, out)
	}
}
