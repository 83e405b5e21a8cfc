// Package glob knows patterns of paths: which paths a pattern matches, and how two patterns overlap. For
// patterns as people write them it decides both exactly. Its time is bounded for every pattern. It is pure,
// and knows nothing of rooms, reservations or files.
//
// A pattern becomes a small automaton, and two of them are compared by running both at once over classes of
// characters (see [alphabet]) that neither of them tells apart. A third automaton, [borders], runs along and
// keeps out the paths that no pattern is about.
package glob
