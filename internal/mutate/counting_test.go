package main

import (
	"strings"
	"testing"
)

// TestWithCounts: a condition is compared with what its mutants have, and stays as it is. Any other mutant
// counts where its statement begins.
func TestWithCounts(t *testing.T) {
	const original = `package p

func f(a, b bool, n int) int {
	if a && (b || n < 3) {
		return 1
	}
	switch {
	case a:
		n++
	}
	return n
}
`

	ms, err := listMutants("p/p.go", []byte(original))
	if err != nil {
		t.Fatal(err)
	}
	for i := range ms {
		ms[i].number = i + 1
	}

	got, regions, err := withCounts("p/p.go", []byte(original), ms)
	if err != nil || len(regions) != 1 || len(regions[0].mutants) != len(ms) {
		t.Fatalf("%v, %v", regions, err)
	}

	for _, want := range []string{
		"mutantsReached(1); ", // of the whole condition, which is never the same when it is reversed
		"if mutantCompared(mutantCompared(a && (",
		"mutantCompared(n < 3, ",
		"func() bool { return bool(n <= 3) })",
		"func() bool { return bool(b) })",
		"func() bool { return bool(true || (a)) })",
		"\t\tmutantsReached(11); n++\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}

	if lines := strings.Count(string(got), "\n"); lines != strings.Count(original, "\n") {
		t.Errorf("it has %d lines", lines)
	}
}
