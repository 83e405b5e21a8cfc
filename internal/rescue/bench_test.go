package rescue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// BenchmarkTake rescues 200 changed files of 10,000, and 50 MB. Each time another byte differs, so that it isn't the same state.
func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name           string
		files, changed int
		large          int // bytes of each of two untracked files
	}{{"10000 files, 200 changed", 10_000, 200, 0}, {"50 MB", 100, 0, 25<<20 - 100}} {
		b.Run(c.name, func(b *testing.B) {
			s := newScratch(b)
			for i := range c.files {
				s.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%300, i), strings.Repeat(fmt.Sprintf("line %d\n", i), 300))
			}
			s.git("add", ".")
			s.git("commit", "-qm", "many")
			for i := range c.changed {
				i *= c.files / c.changed
				s.write(fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%300, i), strings.Repeat(fmt.Sprintf("changed %d\n", i), 300))
			}
			r := rand.New(rand.NewPCG(1, 2))
			for i := range 2 {
				if c.large > 0 {
					data := make([]byte, c.large)
					for j := range data {
						data[j] = byte(r.Uint32())
					}
					if err := os.WriteFile(s.path(fmt.Sprint("large", i)), data, 0o666); err != nil {
						b.Fatal(err)
					}
				}
			}
			s.store.Limits.Total = 120 << 20
			n := 0
			for b.Loop() {
				b.StopTimer()
				s.write("counter", fmt.Sprint(n))
				n++
				b.StartTimer()
				taken, err := s.store.Take(context.Background(), s.request())
				if err != nil || taken.Same || len(taken.LeftOut) > 0 {
					b.Fatalf("%+v, %v", taken, err)
				}
			}
		})
	}
}
