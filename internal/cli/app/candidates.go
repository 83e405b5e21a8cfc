package app

import (
	"github.com/spf13/cobra"

	"talkingstick/internal/engine/core"
	"talkingstick/stick"
)

// DescribedWord puts a text beside a word. What agents wrote can't reach the terminal as it is.
func DescribedWord(word, text string) cobra.Completion {
	return cobra.CompletionWithDesc(stick.Line(word), stick.Line(stick.Clip(text, 60)))
}

// FindCandidates runs an operation that reads, and makes a candidate of each of its results.
func FindCandidates[R, T any](
	a *Run, operation func(Operations, core.Caller) (R, error), list func(R) []T,
	word func(T) cobra.Completion,
) []cobra.Completion {
	e, by, err := a.Open()
	if err != nil {
		return nil
	}

	res, err := operation(e, by)
	if err != nil {
		return nil
	}

	var all []cobra.Completion
	for _, x := range list(res) {
		all = append(all, word(x))
	}
	return all
}
