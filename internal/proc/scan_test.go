package proc

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"talkingstick/stick"
)

// closedFS is a /proc of which some entries may not be read.
type closedFS struct {
	fstest.MapFS
	closed []string // prefixes
}

func (c closedFS) refuse(op, name string) error {
	if slices.ContainsFunc(c.closed, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrPermission}
	}
	return nil
}

func (c closedFS) Open(name string) (fs.File, error) {
	if err := c.refuse("open", name); err != nil {
		return nil, err
	}
	return c.MapFS.Open(name)
}

func (c closedFS) ReadLink(name string) (string, error) {
	if err := c.refuse("readlink", name); err != nil {
		return "", err
	}
	return c.MapFS.ReadLink(name)
}

// at gives processes of a fake machine a working directory.
func at(t *Table, dirs map[int]string, closed ...string) *Table {
	m := t.FS.(fstest.MapFS)
	for pid, dir := range dirs {
		m[fmt.Sprintf("%d/cwd", pid)] = &fstest.MapFile{Data: []byte(dir), Mode: os.ModeSymlink}
	}

	for name, f := range m {
		if pid, ok := strings.CutSuffix(name, "/stat"); ok {
			line := string(f.Data)
			comm := line[strings.Index(line, "(")+1 : strings.LastIndex(line, ")")]
			m[pid+"/comm"] = &fstest.MapFile{Data: []byte(comm + "\n")}
		}
	}

	m["self/stat"] = &fstest.MapFile{}
	m["uptime"] = &fstest.MapFile{Data: []byte("1 1\n")}
	t.FS = closedFS{m, closed}
	return t
}

func TestScan(t *testing.T) {
	below := func(dir string) bool { return dir == "/work" || strings.HasPrefix(dir, "/work/") }
	named := func(comm string) bool { return comm == "claude" || comm == "node" }
	for _, c := range []struct {
		name   string
		procs  []fake
		dirs   map[int]string
		closed []string
		inside string // pid dir, …
		hidden string
		locked int
	}{
		{
			"in the directory, below it, beside it",
			[]fake{
				{pid: 10, comm: "claude"},
				{pid: 9, comm: "vim"},
				{pid: 300, comm: "claude"},
				{pid: 301, comm: "claude"},
			},
			map[int]string{10: "/work", 9: "/work/sub", 300: "/workshop", 301: "/"},
			nil, "9 /work/sub, 10 /work", "", 0,
		},
		{
			"a kernel thread has no directory",
			[]fake{{pid: 2, comm: "kthreadd"}, {pid: 10, comm: "claude"}},
			map[int]string{10: "/work"},
			nil, "10 /work", "", 0,
		},
		{"a zombie", []fake{{pid: 10, comm: "claude", state: 'Z'}}, map[int]string{10: "/work"}, nil, "", "", 0},
		{
			"only its first thread has ended",
			[]fake{{pid: 10, comm: "claude", state: 'Z', threads: 3}},
			map[int]string{10: "/work"},
			nil, "10 /work", "", 0,
		},
		{
			"a deleted directory",
			[]fake{{pid: 10, comm: "claude"}},
			map[int]string{10: "/work/gone (deleted)"},
			nil, "10 /work/gone", "", 0,
		},
		{
			"the root itself was deleted",
			[]fake{{pid: 10, comm: "claude"}},
			map[int]string{10: "/work (deleted)"},
			nil, "10 /work", "", 0,
		},
		{
			"spaces, newlines and parentheses in names",
			[]fake{{pid: 10, comm: "cl) S 1 (\naude", args: []string{"a b", "c\nd"}}},
			map[int]string{10: "/work/a b\nc"},
			nil, "10 /work/a b\nc", "", 0,
		},
		{
			"another user's: the directory may not be read, the name may",
			[]fake{{pid: 10, comm: "claude"}, {pid: 11, comm: "sshd"}, {pid: 12, comm: "claude", state: 'Z'}},
			nil,
			[]string{"10/cwd", "11/cwd", "12/cwd"},
			"", "10", 0,
		},
		{
			"hidepid: nothing may be read",
			[]fake{{pid: 10, comm: "claude"}, {pid: 11, comm: "sshd"}, {pid: 12, comm: "claude"}},
			map[int]string{12: "/work"},
			[]string{"10/", "11/"},
			"12 /work", "", 2,
		},
		{
			"its name was changed, which doesn't matter here",
			[]fake{{pid: 10, comm: "renamed"}},
			map[int]string{10: "/work"},
			nil, "10 /work", "", 0,
		},
		{
			"it ends while it is looked at",
			[]fake{{pid: 10, comm: "claude"}},
			map[int]string{11: "/work"},
			nil, "", "", 0,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := at(fakeTable(c.procs...), c.dirs, c.closed...).Scan(below, named)
			if err != nil {
				t.Fatal(err)
			}
			var inside, hidden []string
			for _, s := range got.Inside {
				inside = append(inside, fmt.Sprintf("%d %s", s.ID.PID, s.Dir))
			}
			for _, p := range got.Hidden {
				hidden = append(hidden, fmt.Sprint(p.ID.PID))
			}
			a, b := strings.Join(inside, ", "), strings.Join(hidden, ", ")
			if a != c.inside || b != c.hidden || got.Unreadable != c.locked || got.Blind {
				t.Errorf("inside %q, hidden %q, closed %d, blind %v", a, b, got.Unreadable, got.Blind)
			}
		})
	}
}

// A scan from inside of a pid namespace, or of a /proc of another one, says nothing rather than "nobody".
func TestScanIsBlind(t *testing.T) {
	for name, set := range map[string]func(*Table){
		"a pid namespace":          func(t *Table) { t.Initial = false },
		"a /proc of another one's": func(t *Table) { t.foreign = true },
	} {
		table := at(fakeTable(fake{pid: 10, comm: "claude"}), map[int]string{10: "/work"})
		set(table)
		got, err := table.Scan(func(string) bool { return true }, func(string) bool { return true })
		if err != nil || !got.Blind || len(got.Inside) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestScanNative(t *testing.T) {
	table := fakeTable(fake{pid: 10, comm: "claude"}, fake{pid: 11, comm: "claude"},
		fake{pid: 12, comm: "claude", state: 'Z'}, fake{pid: 13, comm: "login"})
	n := fromFS(table, false)
	n.all = func() (all []status, err error) {
		for _, pid := range []int{10, 11, 12, 13} {
			s, err := n.status(pid)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}

		return all, nil
	}

	n.dir = func(pid int) (string, error) {
		if pid == 10 {
			return "/work", nil
		}
		return "", fs.ErrPermission
	}

	table.native = n
	got, err := table.Scan(func(dir string) bool { return dir == "/work" }, func(comm string) bool {
		return comm == "claude"
	})
	if err != nil ||
		len(got.Inside) != 1 ||
		got.Inside[0].ID.PID != 10 ||
		len(got.Hidden) != 1 ||
		got.Hidden[0].ID.PID != 11 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDir: where a process works, as long as it is that process.
func TestDir(t *testing.T) {
	table := at(fakeTable(fake{pid: 10, comm: "claude", start: 7}, fake{pid: 11, comm: "claude"},
		fake{pid: 12, comm: "claude"}, fake{pid: 13, comm: "claude", state: 'Z'}),
		map[int]string{10: "/work", 11: "/work/gone (deleted)", 13: "/work"})
	for _, c := range []struct {
		p    stick.Process
		want string
	}{
		{process(10, 7), "/work"},
		{process(10, 8), ""},
		{process(11, 0), "/work/gone"},
		{process(12, 0), ""},
		{process(13, 0), ""},
		{process(99, 0), ""},
	} {
		dir, ok := table.WorkingDir(c.p)
		if ok != (c.want != "") || ok && dir != c.want {
			t.Errorf("%+v: %q, %v", c.p, dir, ok)
		}
	}
}
