// Package stick holds the vocabulary of Talking Stick and the rules of its core: turns, members, waits, the log and its
// replay, policies, errors and words. The rules of one subject are in a room, a package below this one: tasks, edits,
// scope, talk, presence, timeline, diff. Reading these packages is reading the product.
//
// A rule is a pure function. It reads no clock, no file and no database: the time, and what was probed of
// processes, are arguments. So a test of a rule needs nothing but values. Rules here are methods of [Room], those of a
// room are functions of a [Room] or a [Task]. They return what changed and the events that record it, and they leave
// the value that they were called on as it was.
//
// A type whose name ends in -ing holds the parameters of one rule: [Asking] is what [Room.Ask] takes, [Leaving],
// [Kicking] and [Closing] are for the methods of these verbs, talk.Sending is for talk.Send, scope.Reserving for
// scope.Reserve, edits.Editing for edits.MayEdit, presence.Starting for presence.StartSession, tasks.Spawning for
// tasks.Spawn, and tasks.Offering for tasks.Done. [Take] is the same for [Room.Takeover], and tasks.Decision for a review.
//
// See docs/decisions/rules-and-store.md.
package stick
