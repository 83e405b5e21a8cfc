// Package presence holds the rules of who is there: sessions and their roles, what an agent does now, how it learns of
// a message, and what a person is needed for.
package presence
