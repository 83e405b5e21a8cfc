package proc

import "testing"

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
