// Package diff reads what git says of a change: the hunks of a file, where a line went, and the lines of a patch.
package diff
