// Mutate tests the tests of the rules: it changes one thing in a file of package stick, runs the tests, and
// expects them to fail. If they pass, the mutant either means the same as the original, or no test checks
// that rule. No file of the tree is touched: each mutant is built with an overlay.
//
//	go run ./internal/mutate -short -n 150 -seed 1
//
// .ci/survivors lists the mutants that may live, each with the reason. Any other that lives fails the run.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	var r run
	flag.StringVar(&r.dir, "dir", "stick", "the folder whose files are changed, with those below it")
	flag.StringVar(&r.list, "survivors", ".ci/survivors", "the mutants that may live")
	flag.IntVar(&r.n, "n", 0, "how many mutants, drawn by the seed; 0 for all")
	flag.Uint64Var(&r.seed, "seed", 1, "which ones are drawn")
	flag.BoolVar(&r.short, "short", false, "run the tests with -short")
	flag.IntVar(&r.parallel, "parallel", runtime.GOMAXPROCS(0), "how many at once")
	flag.DurationVar(&r.limit, "limit", 2*time.Minute, "the time of one run of the tests; a mutant that takes longer is killed")
	only := flag.String("only", "", "only mutants whose name matches this regular expression")
	flag.BoolVar(&r.names, "names", false, "print the names of the mutants and run none")
	flag.Parse()
	r.only = regexp.MustCompile(*only)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.all(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// mutated is the file of a mutant.
const mutated = "mutant.go"

// dear are the tests that take long. They run last, for mutants that have survived the others.
const dear = "Explor|Enumerated"

type run struct {
	dir, list    string
	n, parallel  int
	seed         uint64
	short, names bool
	limit        time.Duration
	only         *regexp.Regexp
	scratch      string
}

// The ends of a mutant.
const (
	killed  = "killed"
	late    = "killed by the limit of time"
	lives   = "lives"
	unbuilt = "doesn't build" // so it shows nothing about the tests
)

func (r *run) all(ctx context.Context) error {
	all, err := mutantsBelow(r.dir)
	if err != nil {
		return err
	}
	allowed, err := survivors(r.list)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, m := range all {
		known[m.name] = true
	}
	drawn := draw(slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !r.only.MatchString(m.name) }), r.n, r.seed)
	if r.names {
		for _, m := range drawn {
			fmt.Println(m.name)
		}
		return nil
	}
	fmt.Printf("%d mutants of %d, seed %d\n", len(drawn), len(all), r.seed)
	if r.scratch, err = os.MkdirTemp("", "mutate-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.scratch)
	if end, said := r.try(ctx, mutant{}, 0); end != lives {
		return fmt.Errorf("the tests fail without a mutant: %s\n%s", end, said)
	}

	var mu sync.Mutex // guards what follows
	ends := map[string][]string{}
	work := make(chan int)
	var wg sync.WaitGroup
	began, done := time.Now(), 0
	for range r.parallel {
		wg.Go(func() {
			for i := range work {
				end, said := r.try(ctx, drawn[i], i+1)
				mu.Lock()
				ends[end] = append(ends[end], drawn[i].name)
				if done++; end == lives && allowed[drawn[i].name] == "" {
					fmt.Printf("lives: %s\n  %s:%d\n", drawn[i].name, drawn[i].file, drawn[i].line)
				} else if end == unbuilt && !strings.Contains(said, mutated) {
					fmt.Printf("%s: %s\n", drawn[i].name, said) // not for what the mutant is
				}
				if done%25 == 0 {
					fmt.Printf("%d of %d, %s\n", done, len(drawn), time.Since(began).Round(time.Second))
				}
				mu.Unlock()
			}
		})
	}
	for i := range drawn {
		if ctx.Err() == nil {
			work <- i
		}
	}
	close(work)
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}

	fmt.Printf("killed %d, %d of them by the limit of time; %d live; %d don't build; %s\n",
		len(ends[killed])+len(ends[late]), len(ends[late]), len(ends[lives]), len(ends[unbuilt]), time.Since(began).Round(time.Second))
	return unexpected(ends, allowed, known, r.list)
}

// unexpected returns an error that names the mutants whose ends the list doesn't allow, and the names in the list that
// don't belong there.
func unexpected(ends map[string][]string, allowed map[string]string, known map[string]bool, list string) error {
	var wrong []string
	for _, name := range ends[lives] {
		if allowed[name] == "" {
			wrong = append(wrong, "lives, and isn't in "+list+": "+name)
		}
	}
	for _, name := range slices.Concat(ends[killed], ends[late]) {
		if allowed[name] != "" {
			wrong = append(wrong, "is killed, and stands in "+list+": "+name)
		}
	}
	for name := range allowed {
		if !known[name] {
			wrong = append(wrong, "is no mutant any more, and stands in "+list+": "+name)
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "\n  "))
	}
	return nil
}

// try builds the tests with a mutant, or with none, and runs them.
func (r *run) try(ctx context.Context, m mutant, id int) (end, said string) {
	dir := filepath.Join(r.scratch, fmt.Sprint(id))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return unbuilt, err.Error()
	}
	defer os.RemoveAll(dir)
	overlay := filepath.Join(dir, "overlay.json")
	replace := map[string]string{}
	if m.file != "" {
		abs, err := filepath.Abs(m.file)
		if err != nil {
			return unbuilt, err.Error()
		}
		replace[abs] = filepath.Join(dir, mutated)
		if err := os.WriteFile(replace[abs], m.source(), 0o600); err != nil {
			return unbuilt, err.Error()
		}
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err == nil {
		err = os.WriteFile(overlay, b, 0o600)
	}
	if err != nil {
		return unbuilt, err.Error()
	}
	packages := []string{filepath.Dir(m.file), r.dir} // packages below are used by those above
	if m.file == "" || packages[0] == r.dir {
		packages = []string{r.dir}
	}
	for i, p := range packages {
		binary := filepath.Join(dir, fmt.Sprintf("%d.test", i))
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, "./"+filepath.ToSlash(p)).CombinedOutput(); err != nil {
			return unbuilt, string(out)
		}
		if _, err := os.Stat(binary); err != nil { // no tests
			continue
		}
		for _, which := range []string{"-test.skip", "-test.run"} {
			if end, said := r.test(ctx, binary, p, which, dear); end != lives {
				return end, said
			}
		}
	}
	return lives, ""
}

// test runs the tests of a package, with limits: a mutant may loop for ever, and take all memory.
func (r *run) test(ctx context.Context, binary, dir string, which ...string) (end, said string) {
	ctx, cancel := context.WithTimeout(ctx, r.limit+10*time.Second)
	defer cancel()
	args := []string{"-c", `ulimit -v 4000000 2>/dev/null; exec "$@"`, "sh", binary, "-test.failfast", "-test.timeout", r.limit.String()}
	args = append(args, which...)
	if drawsAtRandom(dir) {
		args = append(args, "-rapid.nofailfile") // else rapid writes failing cases into the tree
	}
	if r.short {
		args = append(args, "-test.short")
	}
	c := exec.CommandContext(ctx, "sh", args...)
	c.Dir = dir
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	switch {
	case err == nil:
		return lives, ""
	case ctx.Err() != nil || strings.Contains(out.String(), "panic: test timed out"):
		return late, ""
	}
	return killed, out.String()
}

// drawsAtRandom reports whether the tests in a directory use rapid, and so have its flags.
func drawsAtRandom(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	return err == nil && slices.ContainsFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Contains(b, []byte(`"pgregory.net/rapid"`))
	})
}

// survivors reads the list of mutants that may live: one name a line, with the reason in the comment above.
func survivors(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	reason := ""
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		switch text, comment := strings.CutPrefix(line, "#"); {
		case line == "":
			reason = ""
		case comment:
			reason = strings.TrimSpace(reason + " " + strings.TrimSpace(text))
		case reason == "":
			return nil, fmt.Errorf("%s:%d: a survivor without a reason", path, i+1)
		default:
			out[line] = reason
		}
	}
	return out, nil
}
