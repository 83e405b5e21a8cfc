package timeline

import "talkingstick/stick"

// SumOfSpans is for the tests from outside of the package.
func SumOfSpans[S spanned](all []S, from, to stick.Time) stick.Millis {
	return sumOfSpans(all, from, to)
}
