package rescue

import (
	"talkingstick/internal/rescue/commits"
	"talkingstick/internal/rescue/manifest"
)

// What a rescue says of itself, for those who ask a [Store].
type (
	Manifest = manifest.Manifest
	Facts    = manifest.Facts
	Nested   = manifest.Nested
	LeftOut  = manifest.LeftOut
	Why      = manifest.Why
	Moment   = manifest.Moment
	Loss     = manifest.Loss
)

// The causes of rescues.
const (
	CauseCommand  = manifest.CauseCommand
	CauseTakeover = manifest.CauseTakeover
	CauseCall     = manifest.CauseCall
)

// When a snapshot was made.
const (
	MomentBefore = manifest.MomentBefore
	MomentAfter  = manifest.MomentAfter
)

// The reasons for which something was left out that others than this package tell apart.
const (
	WhyIgnored    = manifest.WhyIgnored
	WhyMany       = manifest.WhyMany
	WhyCommits    = manifest.WhyCommits
	WhyMissing    = manifest.WhyMissing
	WhyNever      = manifest.WhyNever
	WhyTime       = manifest.WhyTime
	WhyLimit      = manifest.WhyLimit
	WhyUnreadable = manifest.WhyUnreadable
)

// IsLate reports whether a rescue lacks something because the time was over.
func IsLate(all []LeftOut) bool { return manifest.IsLate(all) }

// IsID reports whether a text has the form of the id of a rescue, which needn't be there.
func IsID(text string) bool { return manifest.IsID(text) }

// What [Store.KeepCommits] and its like return.
type (
	KeptCommits = commits.Kept
	LostTip     = commits.LostTip
	Tip         = commits.Tip
)

// StashName is what [Tip] names as the ref of an entry of the stash.
const StashName = commits.StashName

// UploadPack is [commits.UploadPack].
func UploadPack(common string) string { return commits.UploadPack(common) }
