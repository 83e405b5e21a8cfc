package rescue

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkTake rescues 200 changed files of 10,000, and 50 MB. Each time another byte differs, so that it
// isn't the same state.
func BenchmarkTake(b *testing.B) {
	for _, c := range []struct {
		name           string
		files, changed int
		large          int // bytes of each of two untracked files
	}{{"10000 files, 200 changed", 10_000, 200, 0}, {"50 MB", 100, 0, 25<<20 - 100}} {
		b.Run(c.name, func(b *testing.B) {
			s := newScratch(b)
			s.commitMany(c.files)
			for i := range c.changed {
				s.change(i*c.files/c.changed, "changed")
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

// many names a file of many.
func many(i int) string { return fmt.Sprintf("d%d/e%d/f%d.txt", i%20, i%300, i) }

// change writes one of many files, with another text.
func (s *scratch) change(i int, text string) {
	s.write(many(i), strings.Repeat(fmt.Sprintf("%s %d\n", text, i), 300))
}

func (s *scratch) commitMany(files int) {
	for i := range files {
		s.change(i, "line")
	}
	s.git("add", ".")
	s.git("commit", "-qm", "many")
}

// BenchmarkSnapshot compares a snapshot among 10,000 files with git status of the same tree, each time one
// after the other. The aims are a ratio of 1.5 where nothing has changed, and of 3.5 where 200 files have.
func BenchmarkSnapshot(b *testing.B) {
	for _, c := range []struct {
		name           string
		dirty, changed int // files that differ from HEAD, and from the last snapshot
	}{{"clean", 0, 0}, {"200 dirty, nothing changed", 200, 0}, {"200 dirty, 1 changed", 200, 1}, {"200 changed", 200, 200}} {
		b.Run(c.name, func(b *testing.B) {
			const files = 10_000
			s := newScratch(b)
			s.commitMany(files)
			for i := range c.dirty {
				s.change(i*files/c.dirty, "dirty")
			}
			s.snapshot()
			s.settle()
			s.snapshot()

			var status, taken []time.Duration
			for b.Loop() {
				b.StopTimer()
				for i := range c.changed {
					s.change(i*files/c.changed, fmt.Sprint("changed ", len(taken)))
				}
				status = append(status, s.timed(func() { s.git("status", "--porcelain=v2", "-uall") }))
				b.StartTimer()
				taken = append(taken, s.timed(func() {
					if got := s.snapshot(); got.Same != (c.changed == 0) || len(got.LeftOut) > 0 {
						b.Fatalf("%+v", got)
					}
				}))
			}
			b.ReportMetric(float64(median(taken))/float64(median(status)), "ratio")
		})
	}
}

// BenchmarkKeepFiles keeps a file beside 200 others that are dirty, as a hook does around an edit.
func BenchmarkKeepFiles(b *testing.B) {
	for _, name := range []string{"unchanged", "changed"} {
		b.Run(name, func(b *testing.B) {
			s := newScratch(b)
			for i := range 200 {
				s.change(i, "dirty")
			}
			s.settle()
			s.snapshot()
			n := 0
			for b.Loop() {
				if name == "changed" {
					b.StopTimer()
					s.change(7, fmt.Sprint("changed ", n))
					n++
					b.StartTimer()
				}
				s.keep(many(7))
			}
		})
	}
}

// BenchmarkManySnapshots makes 10,000 snapshots, each with a small change in one of 200 dirty files. The last
// hundred may take 1.2 times as long as the first, per snapshot. It reports that ratio, the bytes on disk,
// and how long showing one and dropping most of them take.
func BenchmarkManySnapshots(b *testing.B) {
	const count, dirty = 10_000, 200
	for b.Loop() {
		s := newScratch(b)
		text := func(i, k int) string {
			lines := make([]string, 150)
			for j := range lines {
				lines[j] = fmt.Sprintf("line %d of %d: some words that differ %d", j, i, (j*7919+i*31)%1000)
			}
			lines[k%len(lines)] = fmt.Sprint("change ", k)
			return strings.Join(lines, "\n")
		}
		for i := range dirty {
			s.write(many(i), text(i, 0))
		}
		s.snapshot()
		times := make([]time.Duration, 0, count)
		var last Taken
		for k := range count {
			i := k * 7919 % dirty
			s.now += 2000
			s.write(many(i), text(i, k))
			times = append(times, s.timed(func() { last = s.keep(many(i)) }))
		}
		b.ReportMetric(float64(median(times[count-100:]))/float64(median(times[:100])), "last/first")
		b.ReportMetric(float64(s.bytes())/(1<<20), "MB")
		show := s.timed(func() {
			if _, err := s.store.Show(context.Background(), last.ID); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(show.Milliseconds()), "ms/show")
		prune := s.timed(func() { s.store.Prune(context.Background(), s.now.Add(3*24*time.Hour)) })
		b.ReportMetric(float64(prune.Milliseconds()), "ms/prune")
	}
}

// bytes counts the bytes of the store's files, in whole blocks.
func (s *scratch) bytes() (n int64) {
	err := filepath.WalkDir(s.store.Root(), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += (info.Size() + 4095) &^ 4095
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

func (s *scratch) timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func median(all []time.Duration) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}
