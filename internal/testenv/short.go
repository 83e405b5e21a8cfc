package testenv

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// Stage is a part of `make test-all`: what its tests need, or why they take long.
type Stage string

// The stages. `make test` is `go test -short`, and leaves these out.
const (
	// Harnesses need the real harnesses from npm.
	Harnesses Stage = "harnesses"
	// Browser needs Chromium.
	Browser Stage = "browser"
	// Server needs PostgreSQL.
	Server Stage = "postgresql"
	// Every is every case where `make test` plays some: each form of a command, each kill point, each state.
	Every Stage = "every case"
	// Full is no part of `make test-all`: `make ci-full` runs it, by a flag of its own.
	Full Stage = "ci-full"
)

// Leaves reports whether this is a short run. If it is, it also says what the test leaves to a stage.
//
// The line that it logs is what `make test` adds up in its last lines, and what docs/TESTS.md lists.
func Leaves(t testing.TB, stage Stage, what string) bool {
	t.Helper()
	if !testing.Short() {
		return false
	}
	t.Log(formatLeft(stage, what))
	return true
}

// SkipShort skips a test in a short run, and says that it is left to a stage. A test that can show anything
// without what the stage has should use [Leaves], or [Some], and show that.
func SkipShort(t testing.TB, stage Stage, what string) {
	t.Helper()
	if testing.Short() {
		t.Skip(formatLeft(stage, what))
	}
}

// LeavesToFull reports whether a test leaves something to `make ci-full`, which asks for it by a flag of the
// test's package: full is the value of that flag. It says so as [Leaves] does, in every run without the flag.
func LeavesToFull(t testing.TB, full bool, what string) bool {
	t.Helper()
	if full {
		return false
	}
	t.Log(formatLeft(Full, what))
	return true
}

// SkipToFull skips a test without the flag by which `make ci-full` asks for it, and says so.
func SkipToFull(t testing.TB, full bool, what string) {
	t.Helper()
	if !full {
		t.Skip(formatLeft(Full, what))
	}
}

// formatLeft is understood by .ci/left.
func formatLeft(stage Stage, what string) string { return fmt.Sprintf("left to %s: %s", stage, what) }

// Some returns all cases, or in a short run those that keep picks, and says how many it leaves. It fails a
// test that would keep none.
func Some[T any](t testing.TB, stage Stage, what string, all []T, keep func(i int, c T) bool) []T {
	t.Helper()
	if !testing.Short() {
		return all
	}

	var kept []T
	for i, c := range all {
		if keep(i, c) {
			kept = append(kept, c)
		}
	}

	if len(kept) == 0 {
		t.Fatalf("nothing is left of %d %s", len(all), what)
	}

	if len(kept) < len(all) {
		Leaves(t, stage, fmt.Sprintf("%d of %d %s", len(all)-len(kept), len(all), what))
	}
	return kept
}

// EveryNth keeps every n-th case, the first among them.
func EveryNth[T any](n int) func(i int, c T) bool {
	return func(i int, _ T) bool { return i%n == 0 }
}

// Nth returns all cases, or in a short run every n-th, and leaves the others to the stage of every case.
func Nth[T any](t testing.TB, what string, n int, all []T) []T {
	t.Helper()
	return Some(t, Every, what, all, EveryNth[T](n))
}

// NthByName is [Nth] for cases that have names. They count in the order of their names.
func NthByName[T any](t testing.TB, what string, n int, all map[string]T) map[string]T {
	t.Helper()
	kept := map[string]T{}
	for _, name := range Nth(t, what, n, slices.Sorted(maps.Keys(all))) {
		kept[name] = all[name]
	}
	return kept
}
