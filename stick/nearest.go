package stick

// Nearest returns the candidate that somebody who typed s probably meant, "" if there are no candidates.
func Nearest(s string, candidates []string) string { return nearestMatch(s, candidates) }
