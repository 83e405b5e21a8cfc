// Mutate tests the tests of the rules: it changes one thing in a file of package stick, runs the tests, and
// expects them to fail. If they pass, the mutant either means the same as the original, or no test checks
// that rule. No file of the tree is touched: the mutants are built with an overlay.
//
//	go run ./internal/mutate -short -n 150 -seed 1
//
// All mutants are in one test binary of each package, and an environment variable chooses the one that runs
// (see schema.go). A mutant that can't be put there has a build of its own. It meets first the tests that
// reach it and are quick, then explorations in short, then explorations in full; -short leaves out the last.
//
// .ci/survivors lists the mutants that may live, each with the reason. Any other that lives fails the run.
// -out writes the end of each mutant into a file, and -against fails for those that were killed in such a
// file and live now.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	var r run
	flag.StringVar(&r.dir, "dir", "stick", "the folder whose files are changed, with those below it")
	flag.StringVar(&r.list, "survivors", ".ci/survivors", "the mutants that may live")
	flag.IntVar(&r.n, "n", 0, "how many mutants, drawn by the seed; 0 for all")
	flag.Uint64Var(&r.seed, "seed", 1, "which ones are drawn")
	flag.BoolVar(&r.short, "short", false, "run the tests with -short, and no explorations in full")
	flag.IntVar(&r.parallel, "parallel", runtime.GOMAXPROCS(0), "how many at once")

	only := flag.String("only", "", "only mutants whose name matches this regular expression")
	phases := flag.String("phases", "", "only the phases that match this regular expression: "+
		strings.Join([]string{tables, further, shortExplorations, explorations}, ", "))
	flag.DurationVar(&r.limit, "limit", 10*time.Second,
		"the least limit of the processor time that a mutant may need for a phase; "+
			"it is longer where the tests need long without one")
	flag.StringVar(&r.namesFrom, "names-from", "",
		"only mutants that this file names, one a line; it may be one that -out wrote")
	flag.StringVar(&r.record.path, "out", "", "write the end of each mutant into this file")
	flag.StringVar(&r.against, "against", "",
		"fail for mutants that were killed in this file, which -out wrote, and live now")
	flag.BoolVar(&r.names, "names", false, "print the names of the mutants and run none")

	flag.Parse()
	r.only, r.phases = regexp.MustCompile(*only), regexp.MustCompile(*phases)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	if err := r.runAll(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}
