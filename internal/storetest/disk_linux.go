package storetest

import (
	"fmt"
	"os/exec"
	"testing"

	"talkingstick/internal/pgserver"
)

// SmallDisk is a server whose tables lie on a small file system of their own.
type SmallDisk struct {
	*pgserver.Server
	t testing.TB
}

// NewSmallDisk starts one; its write-ahead log is elsewhere, because PostgreSQL ends where that has no space.
// It ends with the test. Only what runs in the server's mount namespace sees the file system. The user there
// isn't root, as whom PostgreSQL wouldn't start.
func NewSmallDisk(t testing.TB) *SmallDisk {
	t.Helper()
	requirePostgres(t)
	if out, err := exec.Command("unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this system lets nobody mount a small file system in a namespace: %s", out)
	}

	server, err := pgserver.New()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = server.Stop() })

	// The files have to lie still while they move to the small disk.
	server.Crash()
	const mounts = `set -e
		mkdir "$0/small"
		mount -t tmpfs -o size=48m small "$0/small"
		cp -a "$0/data" "$0/small"
		mv "$0/small/data/pg_wal" "$0/wal"
		ln -s "$0/wal" "$0/small/data/pg_wal"
		mount --bind "$0/small/data" "$0/data"
		exec unshare -U --map-user=1000 --map-group=1000 setpriv --pdeathsig QUIT "$@"`

	server.Before = []string{"/usr/bin/unshare", "-Urm", "sh", "-c", mounts, server.Dir}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}

	return &SmallDisk{server, t}
}

// Fill leaves no space on the file system.
func (d *SmallDisk) Fill() {
	d.t.Helper()
	err := Script(d.URL(), `CREATE TABLE ballast (page char(7000));
		ALTER TABLE ballast ALTER page SET STORAGE PLAIN`)
	if err != nil {
		d.t.Fatal(err)
	}

	// Ever fewer pages fit into what is left.
	for _, pages := range []int{1000, 100, 1} {
		for Script(d.URL(), fmt.Sprintf("INSERT INTO ballast SELECT 'x' FROM generate_series(1, %d)", pages)) == nil {
		}
	}
}

// Free makes space again.
func (d *SmallDisk) Free() {
	d.t.Helper()
	if err := Script(d.URL(), "DROP TABLE ballast"); err != nil {
		d.t.Error(err)
	}
}
