package talkingstick_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	decisionsDir  = "docs/decisions/"
	lastOldNumber = 148 // of a page, when each decision had one
)

var (
	// Sections of a page of decisions, one name a line. Figures and cost may be missing.
	decisionSections = regexp.MustCompile(`^What holds\nWhy\nWhy not\n(Figures\n)?(Cost\n)?$`)

	sectionHeading = regexp.MustCompile(`(?m)^## (.+)$`)
	numbersRow     = regexp.MustCompile(`(?m)^\| \[[^\]]+\]\(([^)]+)\) \| ([\d, ]+) \|$`)

	// An entry of "Why not" begins with what was tried or rejected, and when. One that held for a time says until when.
	whyNotEntry = regexp.MustCompile(`^\*\*[^*]+\*\* \((\d{4}-\d\d-\d\d)(, until \d{4}-\d\d-\d\d)?\)\. \S`)

	// Only the list knows the numbers that decisions once had.
	decisionNumber = regexp.MustCompile(`\b[Dd]ecisions? \[?\d`)

	// A comment in Go names a page of decisions by its path in the repository.
	decisionInCode = regexp.MustCompile(decisionsDir + `([\w-]+\.md)(#[\w-]+)?`)
)

// TestDecisions checks the pages of decisions: their sections, the dates of what was rejected, and the list, in which each page has a row and
// each number of a former page, which commit messages name, stands once.
func TestDecisions(t *testing.T) {
	docs := documents(t)
	list := docs[decisionsDir+"README.md"]
	numbers := oldNumbers(t, list)

	for _, path := range decisionPages(docs) {
		name := strings.TrimPrefix(path, decisionsDir)
		checkDecisionPage(t, path, docs[path])

		title, _, _ := strings.Cut(strings.TrimPrefix(docs[path], "# "), "\n")
		if row := fmt.Sprintf("\n| [%s](%s) | ", title, name); strings.Count(list, row) < 1 {
			t.Errorf("%sREADME.md has no row %s", decisionsDir, row)
		}
	}

	for n := 1; n <= lastOldNumber; n++ {
		if len(numbers[n]) != 1 {
			t.Errorf("the old number %d stands for %q, and not for one page", n, numbers[n])
		}
	}

	if len(numbers) != lastOldNumber {
		t.Errorf("%d old numbers stand in the list, want %d", len(numbers), lastOldNumber)
	}
}

// TestDecisionsInCode follows what Go files say of decisions, and finds those that a document or a Go file calls by a number.
func TestDecisionsInCode(t *testing.T) {
	docs := documents(t)
	texts := maps.Clone(docs)
	for _, path := range goFiles(t) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = string(b)

		for _, m := range decisionInCode.FindAllStringSubmatch(texts[path], -1) {
			page, ok := docs[decisionsDir+m[1]]
			if !ok {
				t.Errorf("%s: %s isn't there", path, m[0])
			} else if m[2] != "" && !slices.Contains(anchorsOf(page), m[2][1:]) {
				t.Errorf("%s: %s has no such heading", path, m[0])
			}
		}
	}

	for path, text := range texts {
		if m := decisionNumber.FindString(text); m != "" {
			t.Errorf("%s: %q names a decision by a number; name its page", path, m)
		}
	}
}

// checkDecisionPage checks the form of one page.
func checkDecisionPage(t *testing.T, path, text string) {
	t.Helper()
	names := ""
	for _, m := range sectionHeading.FindAllStringSubmatch(text, -1) {
		names += m[1] + "\n"
	}

	if !strings.HasPrefix(text, "# ") || !decisionSections.MatchString(names) {
		t.Errorf(
			"%s: a page has a title and the sections What holds, Why, Why not, and may have Figures and Cost; this one has %q",
			path, names,
		)
		return
	}

	_, rejected, _ := strings.Cut(text, "\n## Why not\n")
	rejected, _, _ = strings.Cut(rejected, "\n## ")
	entries := strings.Split("\n"+strings.TrimSpace(strings.ReplaceAll(rejected, "\n  ", " ")), "\n- ")
	if entries[0] != "" || len(entries) == 1 {
		t.Errorf("%s: Why not is a list", path)
	}

	for _, entry := range entries[1:] {
		m := whyNotEntry.FindStringSubmatch(entry)
		if m == nil {
			t.Errorf("%s: not of the form \"**what was rejected** (2026-11-26). Why\": %s", path, entry)
		} else if _, err := time.Parse(time.DateOnly, m[1]); err != nil {
			t.Errorf("%s: %v: %s", path, err, entry)
		}
	}
}

// decisionPages lists the pages of decisions in the order of their names.
func decisionPages(docs map[string]string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(docs)), func(path string) bool {
		return !strings.HasPrefix(path, decisionsDir) || strings.HasSuffix(path, "README.md")
	})
}

// oldNumbers reads from the list of decisions which page each old number leads to.
func oldNumbers(t *testing.T, list string) map[int][]string {
	t.Helper()
	_, table, _ := strings.Cut(list, "\n## Old numbers\n")
	out := map[int][]string{}
	for _, m := range numbersRow.FindAllStringSubmatch(table, -1) {
		for _, number := range strings.Split(m[2], ", ") {
			n, err := strconv.Atoi(number)
			if err != nil {
				t.Errorf("%sREADME.md: %s has the number %q", decisionsDir, m[1], number)
			}
			out[n] = append(out[n], m[1])
		}
	}

	return out
}
