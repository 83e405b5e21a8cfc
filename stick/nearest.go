package stick

// Nearest returns the candidate that was probably meant by s; "" when there is none.
func Nearest(s string, candidates []string) string { return nearest(s, candidates) }
