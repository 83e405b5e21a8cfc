// Package edits holds the rules of files: who may change, remove, commit, push or stash which of them now, whose a
// change is, who has to hear of it, and what an undo of a tool call puts back.
//
// A rule is a function of a [stick.Room], and answers with a [Judgement] or with the events that record what was done.
package edits
