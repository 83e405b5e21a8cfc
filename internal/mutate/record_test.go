package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRecord(t *testing.T) {
	r := record{path: filepath.Join(t.TempDir(), "out")}
	for _, res := range []result{
		{name: "b", end: lives},
		{name: "a", end: killed, by: "tables, p TestA"},
		{name: "c", end: late, by: "tables, p TestC"},
	} {
		if err := r.addResult(res); err != nil {
			t.Fatal(err)
		}
	}

	if err := r.writeSorted(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(r.path)
	want := "a\tkilled\ttables, p TestA\nb\tlives\nc\tkilled by the limit of time\ttables, p TestC\n"
	if err != nil || string(b) != want {
		t.Errorf("%q, %v", b, err)
	}
	if got, err := readRecord(r.path); err != nil || len(got) != 3 || got[0] != r.results[0] || got[1] != r.results[1] {
		t.Errorf("%v, %v", got, err)
	}
}

func TestRecord_Compare(t *testing.T) {
	before := []result{
		{name: "was killed", end: killed, by: "tables, p TestA"},
		{name: "was late", end: late},
		{name: "lived", end: lives},
		{name: "is killed", end: killed},
		{name: "is gone", end: killed},
		{name: "isn't drawn", end: killed},
	}

	known := map[string]bool{}
	for _, b := range before {
		known[b.name] = b.name != "is gone"
	}
	now := record{results: []result{
		{name: "was killed", end: lives},
		{name: "was late", end: lives},
		{name: "lived", end: lives},
		{name: "is killed", end: killed},
	}}
	err := now.compareWith(before, known)
	if err == nil {
		t.Fatal("no mutant that lives now was killed")
	}

	want := "lives, and was killed by tables, p TestA: was killed\n  lives, and was killed by : was late"
	if err.Error() != want {
		t.Errorf("%q", err)
	}

	now.results = now.results[2:]
	if err := now.compareWith(before, known); err != nil {
		t.Error(err)
	}
}

func TestFailedTest(t *testing.T) {
	for want, said := range map[string]string{
		"TestA":     "=== RUN   TestA\n=== RUN   TestA/one\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\nFAIL\n",
		"TestB":     "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n=== RUN   TestB/one\nfatal error: stack overflow\n",
		"the start": "panic: no table\n",
	} {
		if got := failedTest(said); got != want {
			t.Errorf("%s, not %s: %s", got, want, strings.ReplaceAll(said, "\n", "|"))
		}
	}
}
