package proc

import (
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestInside(t *testing.T) {
	table := fakeTable(fake{pid: 10}, fake{pid: 11}, fake{pid: 12}, fake{pid: 13})
	for dir, cwd := range map[string]string{"10": "/work/trees/x", "11": "/work/trees/x/sub", "12": "/work/trees/xy"} {
		table.FS.(fstest.MapFS)[dir+"/cwd"] = &fstest.MapFile{Data: []byte(cwd), Mode: fs.ModeSymlink}
	}
	pids, ok := table.ProcessesInside("/work/trees/x")
	if slices.Sort(pids); !ok || !slices.Equal(pids, []int{10, 11}) {
		t.Errorf("%v, %v", pids, ok)
	}

	table.foreign = true
	if _, ok := table.ProcessesInside("/work/trees/x"); ok {
		t.Error("the processes of another namespace were taken for ours")
	}
}
