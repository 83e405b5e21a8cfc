package proc

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree is a usual machine: a login shell over ssh, in it Codex, in it a shell that runs tt.
func tree() []fake {
	const pts3 = 34819
	return []fake{
		{pid: 1, ppid: 0, comm: "systemd", args: []string{"/sbin/init"}, start: 1},
		{pid: 100, ppid: 1, comm: "sshd", args: []string{"sshd: /usr/sbin/sshd -D"}, start: 50},
		{pid: 200, ppid: 100, comm: "bash", args: []string{"-bash"}, session: 200, tty: pts3, start: 900},
		{
			pid: 300, ppid: 200, comm: "node", args: []string{"node", "/usr/bin/codex"}, session: 200,
			tty: pts3, start: 1000,
		},
		{
			pid: 301, ppid: 300, comm: "codex", args: []string{"/opt/codex/bin/codex"}, session: 200,
			tty: pts3, start: 1001,
		},
		{pid: 302, ppid: 301, comm: "bash", args: []string{"/bin/bash", "-c", "tt wait"}, start: 1100},
		{pid: 303, ppid: 302, comm: "tt", args: []string{"tt", "wait"}, session: 302, start: 1101},
	}
}

func TestAncestry(t *testing.T) {
	without := func(pid int) []fake {
		var left []fake
		for _, f := range tree() {
			if f.pid != pid {
				left = append(left, f)
			}
		}

		return left
	}

	change := func(pid int, how func(*fake)) []fake {
		all := tree()
		for i := range all {
			if all[i].pid == pid {
				how(&all[i])
			}
		}

		return all
	}

	for _, c := range []struct {
		name     string
		procs    []fake
		set      func(*Table)
		want     []int
		complete bool
	}{
		{"to the top", tree(), nil, []int{302, 301, 300, 200, 100, 1}, true},
		{
			"a private pid namespace",
			tree(),
			func(t *Table) { t.Initial = false },
			[]int{302, 301, 300, 200, 100, 1},
			false,
		},
		{"stopped below a process", tree(), func(t *Table) { t.Top = 300 }, []int{302, 301}, true},
		{"stopped at the parent", tree(), func(t *Table) { t.Top = 302 }, nil, true},
		{
			"stopped, in a private pid namespace",
			tree(),
			func(t *Table) { t.Initial, t.Top = false, 200 },
			[]int{302, 301, 300},
			true,
		},
		{"hidden", without(100), nil, []int{302, 301, 300, 200}, false},
		{"the process itself is hidden", without(303), nil, nil, false},
		{
			"a missing parent where orphans keep its pid",
			without(100),
			func(t *Table) { t.native = fromFS(t, true) },
			[]int{302, 301, 300, 200},
			true,
		},
		{"a parent's pid was reused", change(301, func(f *fake) { f.start = 5000 }), nil, []int{302}, false},
		{
			"a parent's pid was reused where orphans keep it",
			change(301, func(f *fake) { f.start = 5000 }),
			func(t *Table) { t.native = fromFS(t, true) },
			[]int{302},
			true,
		},
		{
			"left behind by a shell that has ended",
			change(303, func(f *fake) { f.ppid, f.session = 1, 299 }),
			nil,
			[]int{1},
			false,
		},
		{"a parent left behind", change(302, func(f *fake) { f.ppid, f.session = 1, 299 }), nil, []int{302, 1}, false},
		{"a daemon in a session of its own", change(302, func(f *fake) { f.ppid = 1 }), nil, []int{302, 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fakeTable(c.procs...)
			if c.set != nil {
				c.set(table)
			}
			chain, complete := table.Ancestry(303)
			if complete != c.complete {
				t.Errorf("complete: got %v, want %v", complete, c.complete)
			}

			var got []int
			for _, p := range chain {
				got = append(got, p.ID.PID)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// What is read while pids are reused can form a circle. It ends all the same.
func TestAncestryInACircle(t *testing.T) {
	table := fakeTable(
		fake{pid: 2, ppid: 3, comm: "a", start: 5},
		fake{pid: 3, ppid: 2, comm: "b", start: 5},
	)

	if chain, complete := table.Ancestry(2); complete {
		t.Errorf("a circle of %d counts as complete", len(chain))
	}
}

// fromFS is a system without /proc that has the processes of t.
func fromFS(t *Table, orphans bool) *native {
	fsys := t.FS
	return &native{
		status:  func(pid int) (status, error) { return readStatus(fsys, statPath(pid)) },
		args:    func(pid int) []string { return readArgs(fsys, pid) },
		orphans: orphans,
	}
}

func TestInfo(t *testing.T) {
	table := fakeTable(tree()...)
	table.PIDSpace.Machine = "3d12"
	got, err := table.Info(301)
	if err != nil {
		t.Fatal(err)
	}

	id := process(301, 1001)
	id.Machine = "3d12"
	want := Info{
		ID: id, PPID: 300, Comm: "codex", Args: []string{"/opt/codex/bin/codex"}, SID: 200, TTY: "pts/3",
		State: 'S',
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := table.Info(99); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no process: got %v, want not exist", err)
	}
}
