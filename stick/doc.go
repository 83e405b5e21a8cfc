// Package stick holds the vocabulary of Talking Stick and its rules. Reading this package is reading the
// product.
//
// A rule is a pure function. It reads no clock, no file and no database: the time, and what was probed of
// processes, are arguments. So a test of a rule needs nothing but values. Most rules are methods of [Room] or
// [Task]. They return what changed and the events that record it, and they leave the value that they were
// called on as it was.
//
// A type whose name ends in -ing holds the parameters of one rule: [Sending] is what [Room.Send] takes,
// [Reserving] is for [Room.Reserve], [Editing] for [Room.MayEdit], [Asking] for [Room.Ask], [Starting] for
// [Room.StartSession], [Leaving], [Kicking] and [Closing] for the methods of these verbs, [Spawning] for
// [SpawnTask], and [Offering] for [Task.Done]. [Take] is the same for [Room.Takeover], and [TaskDecision] for
// a review.
//
// See docs/decisions/rules-and-store.md.
package stick
