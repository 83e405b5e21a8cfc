package proc

import (
	"bufio"
	"os"
	"os/exec"
	"testing"
	"testing/fstest"

	"talkingstick/stick"

	"golang.org/x/sys/unix"
)

func TestReadWorld(t *testing.T) {
	link := func(to string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(to), Mode: os.ModeSymlink}
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	etc := fstest.MapFS{"machine-id": file("3d1219\n")}
	for _, c := range []struct {
		name    string
		proc    fstest.MapFS
		etc     fstest.MapFS
		want    PIDSpace
		initial bool
	}{
		{
			"the first namespace",
			fstest.MapFS{
				"self/ns/pid": link("pid:[4026531836]"), "self/ns/time": link("time:[4026531834]"),
				"sys/kernel/random/boot_id": file("b\n"),
			},
			etc,
			PIDSpace{"3d1219", "b", "4026531836"},
			true,
		},
		{
			"no machine id, an old kernel without time namespaces",
			fstest.MapFS{"self/ns/pid": link("pid:[4026531836]"), "sys/kernel/random/boot_id": file("b\n")},
			fstest.MapFS{},
			PIDSpace{"", "b", "4026531836"},
			true,
		},
		{
			"a container",
			fstest.MapFS{"self/ns/pid": link("pid:[4026532201]"), "sys/kernel/random/boot_id": file("b\n")},
			etc,
			PIDSpace{"3d1219", "b", "4026532201"},
			false,
		},
		{
			"a time namespace shifts start times",
			fstest.MapFS{
				"self/ns/pid": link("pid:[4026531836]"), "self/ns/time": link("time:[4026532300]"),
				"sys/kernel/random/boot_id": file("b\n"),
			},
			etc,
			PIDSpace{"3d1219", "b", "4026531836+4026532300"},
			true,
		},
		{
			"a namespace that can't be told makes nothing comparable",
			fstest.MapFS{"sys/kernel/random/boot_id": file("b\n")},
			etc,
			PIDSpace{"3d1219", "", ""},
			false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, initial := readPIDSpace(c.proc, c.etc)
			if got != c.want || initial != c.initial {
				t.Errorf("got %+v, %v, want %+v, %v", got, initial, c.want, c.initial)
			}
		})
	}
}

func host(t testing.TB) *Table {
	t.Helper()
	table, err := Host()
	if err != nil {
		t.Fatal(err)
	}
	if table.foreign {
		t.Skip("/proc shows another pid namespace than this process's")
	}

	return table
}

func TestHostSelf(t *testing.T) {
	table := host(t)
	self, err := table.Self()
	if err != nil {
		t.Fatal(err)
	}
	if self.PID != os.Getpid() || self.Boot == "" || self.Start == 0 {
		t.Errorf("got %+v", self)
	}
	if got := table.Verdict(self); got != stick.Alive {
		t.Errorf("this process is %s", got)
	}

	chain, _ := table.Ancestry(self.PID)
	if len(chain) == 0 || chain[0].ID.PID != os.Getppid() {
		t.Errorf("the nearest ancestor isn't the parent %d: %+v", os.Getppid(), chain)
	}
}

// child is a real process that lives until its input ends or it is killed.
func child(t *testing.T, table *Table) (*exec.Cmd, stick.Process) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "echo ready; read line")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		in.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})

	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	info, err := table.Info(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}

	return cmd, info.ID
}

func TestHostChild(t *testing.T) {
	table := host(t)
	cmd, p := child(t, table)
	if got := table.Verdict(p); got != stick.Alive {
		t.Errorf("running: got %s", got)
	}

	w, err := table.Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()

	select {
	case <-w.C:
		t.Fatal("the watch fired while the process ran")
	default:
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-w.C // nobody has waited for the child yet: a zombie has ended
	if got := table.Verdict(p); got != stick.Gone {
		t.Errorf("a zombie: got %s", got)
	}

	late, err := table.Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	<-late.C

	cmd.Wait()
	if got := table.Verdict(p); got != stick.Gone {
		t.Errorf("no more: got %s", got)
	}

	if late, err = table.Watch(p); err != nil {
		t.Fatal(err)
	}
	<-late.C
	late.Close()
}

func TestDeaths(t *testing.T) {
	table := host(t)
	kept, keptID := child(t, table)
	dropped, droppedID := child(t, table)
	other, otherID := child(t, table)
	d := table.Deaths()
	defer d.Close()

	none := func(when string) {
		t.Helper()
		select {
		case <-d.C:
			t.Fatalf("it fired %s", when)
		default:
		}
	}

	d.Watch([]stick.Process{keptID, droppedID, {PID: 1, Boot: "another"}})
	d.Watch([]stick.Process{keptID, otherID})
	none("while all run")

	end := func(c *exec.Cmd) {
		t.Helper()
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		c.Wait()
	}

	end(dropped)
	none("for one that isn't watched any more")
	for _, c := range []*exec.Cmd{kept, other} {
		end(c)
		<-d.C
		none("twice for one")
	}

	d.Watch([]stick.Process{keptID})
	none("for one that it has told of")
	d.Watch(nil)
	d.Watch([]stick.Process{keptID})
	<-d.C // at once: it had ended before
}

func TestWatchAnotherStart(t *testing.T) {
	table := host(t)
	_, p := child(t, table)
	p.Start--
	w, err := table.Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	<-w.C // the pid is in use, but not by this process
}

func TestWatchUnknown(t *testing.T) {
	table := host(t)
	_, p := child(t, table)
	p.PIDNS = "another"
	if _, err := table.Watch(p); err == nil {
		t.Error("a process of another world can be watched")
	}
	if _, err := table.Watch(stick.Process{}); err == nil {
		t.Error("no process can be watched")
	}
}

func TestWatchEarlierBoot(t *testing.T) {
	table := host(t)
	table.OneHost = true
	_, p := child(t, table)
	p.Boot = "an earlier one"
	w, err := table.Watch(p)
	if err != nil {
		t.Fatal(err)
	}
	<-w.C
}

func TestWatchClose(t *testing.T) {
	table := host(t)
	cmd, p := child(t, table)
	w, err := table.Watch(p)
	if err != nil {
		t.Fatal(err)
	}

	w.Close()
	w.Close()
	cmd.Process.Kill()
	cmd.Wait()

	select {
	case <-w.C:
		t.Error("a closed watch fired")
	default:
	}
}

// Every watch gives its descriptor back, however it ended.
func TestWatchLeaksNothing(t *testing.T) {
	table := host(t)
	_, p := child(t, table)
	lowest := func() int {
		fd, err := unix.Dup(0)
		if err != nil {
			t.Fatal(err)
		}
		unix.Close(fd)
		return fd
	}

	gone := p
	gone.Start--
	elsewhere := p
	elsewhere.PIDNS = "another"
	before := lowest()

	for range 20 {
		for _, p := range []stick.Process{p, gone, elsewhere} {
			if w, err := table.Watch(p); err == nil {
				w.Close()
			}
		}
	}

	if after := lowest(); after > before {
		t.Errorf("the lowest free descriptor was %d and is %d", before, after)
	}
}

func BenchmarkVerdict(b *testing.B) {
	table := host(b)
	self, err := table.Self()
	if err != nil {
		b.Fatal(err)
	}

	for b.Loop() {
		if table.Verdict(self) != stick.Alive {
			b.Fatal("not alive")
		}
	}
}

func BenchmarkAncestry(b *testing.B) {
	table := host(b)
	pid := os.Getpid()
	var chain []Info
	for b.Loop() {
		chain, _ = table.Ancestry(pid)
	}
	b.ReportMetric(float64(len(chain)), "ancestors")
}

func BenchmarkHost(b *testing.B) {
	for b.Loop() {
		host(b)
	}
}

// Where /proc isn't mounted nothing is known of processes, and nobody is taken for gone.
func TestNoProc(t *testing.T) {
	table := hostOf(os.DirFS(t.TempDir()))
	if chain, complete := table.Ancestry(os.Getpid()); len(chain) > 0 || complete {
		t.Errorf("an ancestry of %+v, complete: %t", chain, complete)
	}

	for _, p := range []stick.Process{
		{PID: os.Getpid(), Start: 1}, {Machine: "m", Boot: "b", PIDNS: "1", PID: 1 << 22, Start: 7},
	} {
		if v := table.Verdict(p); v != stick.Unknown {
			t.Errorf("%+v is %s", p, v)
		}
	}
}
