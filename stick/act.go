package stick

import (
	"slices"
)

// MergeUnique returns a, and what b has beside it.
func MergeUnique[T comparable](a, b []T) []T {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(a, x) {
			out = append(out, x)
		}
	}

	return out
}
