// Package stick is the vocabulary of Talking Stick and its rules. It reads no clock, no file and
// no database: every rule takes values and returns values, so that reading this package is
// reading the product, and testing it needs nothing else.
package stick
