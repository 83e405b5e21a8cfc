package proc

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestParseStatus(t *testing.T) {
	for _, c := range []struct {
		name string
		f    fake
		tty  string
	}{
		{"plain", fake{pid: 42, ppid: 7, comm: "claude", start: 96556}, ""},
		{"spaces", fake{pid: 42, ppid: 7, comm: "tmux: server", start: 1}, ""},
		{"parentheses", fake{pid: 42, ppid: 7, comm: "a) R 1 (b) S 2 3 4", start: 1}, ""},
		{"a newline", fake{pid: 42, ppid: 7, comm: "a\nb", start: 1}, ""},
		{"empty", fake{pid: 42, ppid: 7, comm: "", start: 1}, ""},
		{"not UTF-8", fake{pid: 42, ppid: 7, comm: "\xff\xfe", start: 1}, ""},
		{"pseudo terminal", fake{pid: 42, ppid: 7, comm: "bash", tty: 34819, start: 1}, "pts/3"},
		{
			"pseudo terminal past the first 256",
			fake{pid: 42, ppid: 7, comm: "bash", tty: 137<<8 | 4, start: 1},
			"pts/260",
		},
		{"console", fake{pid: 42, ppid: 7, comm: "bash", tty: 4<<8 | 1, start: 1}, "tty1"},
		{"serial line", fake{pid: 42, ppid: 7, comm: "bash", tty: 4<<8 | 64, start: 1}, "ttyS0"},
		{"another device", fake{pid: 42, ppid: 7, comm: "bash", tty: 229 << 8, start: 1}, "229:0"},
		{"threads", fake{pid: 42, ppid: 7, comm: "node", threads: 12, state: 'Z', start: 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStatus(c.f.stat())
			if err != nil {
				t.Fatal(err)
			}

			want := status{
				pid: 42, ppid: 7, comm: c.f.comm, state: max(c.f.state, 'S'), session: 42, tty: c.tty,
				threads: max(c.f.threads, 1), start: c.f.start,
			}

			if d := cmp.Diff(want, got, cmp.AllowUnexported(status{})); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseStatusRefuses(t *testing.T) {
	whole := fake{pid: 42, comm: "bash", start: 1}.stat()
	for name, line := range map[string]string{
		"nothing":          "",
		"no name":          "42 S 1 1 1 0",
		"a name left open": "42 (bash S 1 1 1 0",
		"cut off":          whole[:40],
		"a pid that isn't": strings.Replace(whole, "42", "x", 1),
		"pid 0":            strings.Replace(whole, "42", "0", 1),
		"a huge start":     strings.Replace(whole, " 1 3133440", " 99999999999999999999 3133440", 1),
	} {
		if got, err := parseStatus(line); err == nil {
			t.Errorf("%s: got %+v, want an error", name, got)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	f.Add(fake{pid: 42, ppid: 1, comm: "bash", start: 1}.stat())
	f.Add(fake{pid: 42, ppid: 1, comm: "a) Z 1 (\n", start: 1}.stat())
	f.Add("1 (systemd) S 0 1 1 0 -1")
	f.Add("() ")
	if own, err := os.ReadFile("/proc/self/stat"); err == nil {
		f.Add(string(own))
	}

	f.Fuzz(func(t *testing.T, line string) {
		s, err := parseStatus(line)
		if err != nil {
			return
		}
		if s.pid <= 0 || s.ppid < 0 || s.start < 0 {
			t.Errorf("%q was read as %+v", line, s)
		}
		if !strings.Contains(line, "("+s.comm+")") {
			t.Errorf("%q doesn't hold the name %q", line, s.comm)
		}
	})
}

func TestReadArgs(t *testing.T) {
	long := strings.Repeat("x", argsLimit)
	for _, c := range []struct {
		name, line string
		want       []string
	}{
		{"arguments", "node\x00/usr/bin/codex\x00exec\x00", []string{"node", "/usr/bin/codex", "exec"}},
		{"an empty argument", "codex\x00\x00exec\x00", []string{"codex", "", "exec"}},
		{"a new title over a longer command line", "claude\x00\x00\x00\x00\x00", []string{"claude"}},
		{"a title without an end", "sshd: dev@pts/3", []string{"sshd: dev@pts/3"}},
		{"a kernel thread", "", nil},
		{"very long", "claude\x00" + long, []string{"claude", long[:argsLimit-len("claude")-1]}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{"42/cmdline": &fstest.MapFile{Data: []byte(c.line)}}
			if d := cmp.Diff(c.want, readArgs(fsys, 42)); d != "" {
				t.Error(d)
			}
		})
	}

	if got := readArgs(fstest.MapFS{}, 42); got != nil {
		t.Errorf("got %q of no process", got)
	}
}

func TestParseProcArgs(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      []string
	}{
		{
			"arguments, then the environment",
			"\x02\x00\x00\x00/bin/sh\x00\x00\x00sh\x00-l\x00HOME=/\x00",
			[]string{"sh", "-l"},
		},
		{"an empty argument", "\x02\x00\x00\x00/bin/sh\x00sh\x00\x00HOME=/\x00", []string{"sh", ""}},
		{"cut off", "\x05\x00\x00\x00/bin/sh\x00sh\x00-", []string{"sh"}},
		{"a count that can't be", "\xff\xff\xff\xff/bin/sh\x00sh\x00", []string{"sh"}},
		{"no path", "\x02\x00\x00\x00", nil},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, parseProcArgs([]byte(c.raw))); d != "" {
				t.Error(d)
			}
		})
	}
}
