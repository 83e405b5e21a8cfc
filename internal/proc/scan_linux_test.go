package proc

import (
	"os"
	"slices"
	"testing"
)

// TestScanOfThisMachine finds the test itself, where it works. In a pid namespace, as in a container, a scan
// says that it is blind.
func TestScanOfThisMachine(t *testing.T) {
	table := host(t)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Scan(func(d string) bool { return d == dir }, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}

	if !table.Initial {
		if !got.Blind || len(got.Inside) > 0 {
			t.Errorf("in a pid namespace it finds %+v", got)
		}
		return
	}

	if !slices.ContainsFunc(got.Inside, func(s InsideProcess) bool {
		return s.ID.PID == os.Getpid() && len(s.Args) > 0
	}) {
		t.Errorf("the test isn't found: %+v", got)
	}
}

func BenchmarkScan(b *testing.B) {
	table := host(b)
	n := 0
	for b.Loop() {
		n = 0
		_, err := table.Scan(func(string) bool { n++; return false }, func(string) bool { return false })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "processes")
}
