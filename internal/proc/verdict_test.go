package proc

import (
	"io/fs"
	"syscall"
	"testing"

	"talkingstick/stick"
)

func TestDecide(t *testing.T) {
	here := PIDSpace{Boot: boot, PIDNS: pidns}
	p := process(42, 1000)
	otherBoot, otherNS := p, p
	otherBoot.Boot, otherNS.PIDNS = "another", "4026532000"
	otherMachine := p
	otherMachine.Machine = "a container on this boot with a machine id of its own"

	alive := probed{found: true, start: 1000}
	for _, c := range []struct {
		name    string
		p       stick.Process
		w       PIDSpace
		oneHost bool
		s       probed
		want    stick.Verdict
	}{
		{"it runs", p, here, false, alive, stick.Alive},
		{"machine ids aren't compared", otherMachine, here, false, alive, stick.Alive},
		{"its pid is another's", p, here, false, probed{found: true, start: 2000}, stick.Gone},
		{"its pid is an older one's", p, here, false, probed{found: true, start: 1}, stick.Gone},
		{
			"it has ended but its parent hasn't noticed",
			p,
			here,
			false,
			probed{found: true, start: 1000, ended: true},
			stick.Gone,
		},
		{"the kernel confirms that there is none", p, here, false, probed{none: true}, stick.Gone},
		{"hidden", p, here, false, probed{}, stick.Unknown},
		{"another boot, many machines", otherBoot, here, false, alive, stick.Unknown},
		{"another boot, one machine", otherBoot, here, true, alive, stick.Gone},
		{"another pid namespace", otherNS, here, false, alive, stick.Unknown},
		{"another pid namespace, one machine", otherNS, here, true, probed{none: true}, stick.Unknown},
		{"no process", stick.Process{}, here, true, probed{none: true}, stick.Unknown},
		{
			"a process without a boot",
			stick.Process{PID: 42, Start: 1000},
			here,
			true,
			probed{none: true},
			stick.Unknown,
		},
		{"a world without a boot", p, PIDSpace{PIDNS: pidns}, true, probed{none: true}, stick.Unknown},
		{"neither has a boot", stick.Process{PID: 42, Start: 1000}, PIDSpace{}, true, alive, stick.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decideVerdict(c.p, c.w, c.oneHost, c.s); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestVerdict(t *testing.T) {
	answer := func(err error) func(int) error { return func(int) error { return err } }
	asked := func(int) error { t.Error("the kernel was asked without need"); return nil }
	for _, c := range []struct {
		name   string
		fs     fs.FS // another /proc than the usual
		signal func(int) error
		p      stick.Process
		want   stick.Verdict
	}{
		{"it runs", nil, asked, process(42, 1000), stick.Alive},
		{"its pid was reused", nil, asked, process(42, 999), stick.Gone},
		{"a zombie", nil, asked, process(43, 1000), stick.Gone},
		{"only its first thread has ended", nil, asked, process(44, 1000), stick.Alive},
		{"dead", nil, asked, process(45, 1000), stick.Gone},
		{"absent, and the kernel knows of none", nil, answer(syscall.ESRCH), process(99, 1), stick.Gone},
		{"absent, but it can be signalled: hidden", nil, answer(nil), process(99, 1), stick.Unknown},
		{"absent, but another user's: hidden", nil, answer(syscall.EPERM), process(99, 1), stick.Unknown},
		{"it ended while it was read", failing{syscall.ESRCH}, answer(syscall.ESRCH), process(42, 1000), stick.Gone},
		{"unreadable", failing{syscall.EACCES}, asked, process(42, 1000), stick.Unknown},
		{"too many open files", failing{syscall.EMFILE}, asked, process(42, 1000), stick.Unknown},
		{"no process", nil, asked, stick.Process{}, stick.Unknown},
		{"a negative pid", nil, asked, process(-1, 1), stick.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fakeTable(
				fake{pid: 42, comm: "claude", start: 1000},
				fake{pid: 43, comm: "claude", start: 1000, state: 'Z'},
				fake{pid: 44, comm: "claude", start: 1000, state: 'Z', threads: 3},
				fake{pid: 45, comm: "claude", start: 1000, state: 'X'},
			)

			if c.fs != nil {
				table.FS = c.fs
			}
			table.Signal = c.signal
			if got := table.Verdict(c.p); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestHolder knows of the process that holds a lock only its pid.
func TestHolder(t *testing.T) {
	table := fakeTable(
		fake{pid: 42, comm: "tt", start: 1000}, fake{pid: 43, comm: "tt", start: 1000, state: 'T'}, fake{pid: 44, comm: "tt", start: 1000, state: 't'},
		fake{pid: 45, comm: "tt", start: 1000, state: 'Z'},
	)

	for pid, want := range map[int]struct {
		verdict stick.Verdict
		stopped bool
	}{42: {stick.Alive, false}, 43: {stick.Alive, true}, 44: {stick.Alive, true}, 45: {stick.Gone, false}, 99: {stick.Gone, false}, 0: {stick.Unknown, false}} {
		if v, stopped := table.HolderVerdict(pid); v != want.verdict || stopped != want.stopped {
			t.Errorf("process %d: got %s, %t", pid, v, stopped)
		}
	}

	table.Signal = func(int) error { return syscall.EPERM }
	if v, _ := table.HolderVerdict(99); v != stick.Unknown {
		t.Errorf("a hidden process is %s", v)
	}
}

// A /proc of another pid namespace shows other processes under our pids: nothing in it is
// evidence, and only our own entry can be used.
func TestForeignProc(t *testing.T) {
	table := fakeTable(fake{pid: 42, comm: "another's", start: 7})
	table.foreign = true
	if got := table.Verdict(process(42, 7)); got != stick.Unknown {
		t.Errorf("got %s, want unknown", got)
	}
	if got := table.Verdict(process(42, 8)); got != stick.Unknown {
		t.Errorf("got %s, want unknown", got)
	}
	if chain, complete := table.Ancestry(42); len(chain) > 0 || complete {
		t.Errorf("got %v, %v, want nothing seen", chain, complete)
	}
}
