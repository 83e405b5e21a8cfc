package proc

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"talkingstick/stick"
)

// TestStarted finds processes by what they carry of whoever started them.
func TestStarted(t *testing.T) {
	table := fakeTable(
		fake{pid: 10, ppid: 1, comm: "tt", args: []string{"tt-worker"}, start: 100},
		fake{pid: 11, ppid: 10, comm: "sh", session: 10, start: 101},
		fake{pid: 12, ppid: 11, comm: "sleep", session: 10, start: 102},
		// adopted, with a session of its own
		fake{pid: 13, ppid: 10, comm: "server", start: 103},
		fake{pid: 14, ppid: 10, comm: "gone", state: 'Z', start: 104},                // ended
		fake{pid: 20, ppid: 12, comm: "tt", args: []string{"tt-worker"}, start: 200}, // another run
		fake{pid: 21, ppid: 20, comm: "sh", session: 20, start: 201},                 // of which this is a part
		fake{pid: 30, ppid: 1, comm: "orphan", session: 10, start: 300},              // in the session
		fake{pid: 31, ppid: 1, comm: "marked", start: 301},                           // with the variable
		fake{pid: 32, ppid: 31, comm: "below", start: 302},                           // below that one
		fake{pid: 33, ppid: 1, comm: "other", start: 303},                            // with a longer variable
		fake{pid: 40, ppid: 1, comm: "stranger", start: 400},                         //
		// of an earlier process with that number
		fake{pid: 41, ppid: 1, comm: "older", session: 10, start: 50},
	)

	for pid, env := range map[int]string{
		31: "A=b\x00TT_TASK=r/x/1\x00", 33: "TT_TASK=r/x/12\x00", 21: "TT_TASK=r/x/1\x00",
	} {
		table.FS.(fstest.MapFS)[fmt.Sprint(pid)+"/environ"] = &fstest.MapFile{Data: []byte(env)}
	}
	runner := process(10, 100)

	other := func(i Info) bool { return len(i.Args) > 0 && i.Args[0] == "tt-worker" }
	for _, c := range []struct {
		name string
		by   Traces
		want []int
	}{
		{"below", Traces{Below: []stick.Process{runner}, Except: other}, []int{11, 12, 13}},
		{"without an exception", Traces{Below: []stick.Process{runner}}, []int{11, 12, 13, 20, 21}},
		{"below one that has another start", Traces{Below: []stick.Process{process(10, 99)}, Except: other}, nil},
		{
			"in the session",
			Traces{Session: runner, Except: other, Below: []stick.Process{runner}},
			[]int{11, 12, 13, 30},
		},
		{"in the session of one that has ended", Traces{Session: process(10, 100)}, []int{11, 12, 20, 21, 30}},
		{"with the variable", Traces{Variable: "TT_TASK=r/x/1", Except: other}, []int{31, 32}},
		{"of another boot", Traces{Session: stick.Process{Boot: "else", PID: 10, Start: 100}}, nil},
		{"nothing", Traces{}, nil},
	} {
		var got []int
		for _, p := range table.StartedProcesses(c.by) {
			got = append(got, p.ID.PID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}

	for _, c := range []struct {
		name   string
		leader fake
		env    string
		want   []int
	}{
		{"another process has the number", fake{pid: 10, ppid: 1, start: 500}, "", nil},
		{
			"another process has the number, and a mark is left",
			fake{pid: 10, ppid: 1, start: 500},
			"TT_TASK=r/x/1\x00",
			[]int{11},
		},
		{"nobody has the number", fake{pid: 9, ppid: 1}, "", nil},
		{"nobody has the number, and a mark is left", fake{pid: 9, ppid: 1}, "TT_TASK=r/x/1\x00", []int{11, 12, 13}},
		{"its process is there", fake{pid: 10, ppid: 1, start: 100, state: 'Z'}, "", []int{11, 12, 13}},
	} {
		table := fakeTable(c.leader,
			fake{pid: 11, ppid: 1, session: 10, start: 501},
			fake{pid: 12, ppid: 1, session: 10, start: 502}, // it has another environment
			fake{pid: 13, ppid: 12, start: 503},
		)

		table.FS.(fstest.MapFS)["11/environ"] = &fstest.MapFile{Data: []byte(c.env)}
		var got []int
		for _, p := range table.StartedProcesses(Traces{
			Session: runner, Below: []stick.Process{runner}, Variable: "TT_TASK=r/x/1",
		}) {
			got = append(got, p.ID.PID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("in the session of one that has ended, %s: %v, want %v", c.name, got, c.want)
		}
	}

	if err := table.Send(runner, nil); err == nil {
		t.Error("a machine of data got a signal")
	}
}
