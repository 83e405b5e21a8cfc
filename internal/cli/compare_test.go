//go:build unix

package cli_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// compareTexts returns the lines in which two texts differ; it is empty if they are the same. Package cmp isn't
// linked in here: to begin it takes a tenth of the time of tt, and this binary is started thousands of times as tt.
func compareTexts(before, after string) string {
	return string(diff.Diff("before", []byte(before), "after", []byte(after)))
}

// compareTrees is [compareTexts] for files by their names.
func compareTrees(before, after map[string]string) string {
	return compareTexts(listFiles(before), listFiles(after))
}

func listFiles(tree map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		fmt.Fprintf(&b, "%s: %q\n", name, tree[name])
	}
	return b.String()
}
