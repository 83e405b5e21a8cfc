package manifest

import (
	"slices"
	"strings"

	"talkingstick/stick"
)

// LeftOut is something that a rescue lacks.
type LeftOut struct {
	Path  string `json:"path"`            // with / at its end: everything below may be lacking. "./" is the whole tree
	Why   Why    `json:"why"`             // the reason
	Files int    `json:"files,omitempty"` // how many, if Path stands for several
}

// Covers reports whether a path, with / between names, may be lacking because of it.
func (l LeftOut) Covers(path string) bool {
	return l.Path == path || l.Path == "./" || strings.HasSuffix(l.Path, "/") && strings.HasPrefix(path, l.Path)
}

// IsLate reports whether something was left out because the time was over: with more of it, a rescue has that.
func IsLate(all []LeftOut) bool {
	return slices.ContainsFunc(all, func(l LeftOut) bool { return l.Why == WhyTime })
}

// Why says for what reason something was left out, in words of ours.
type Why = stick.Words

// The reasons.
const (
	WhyLimit      Why = "the rescue would be too large"
	WhyTime       Why = "the time was over"
	WhyUnreadable Why = "it can't be read"
	WhyTorn       Why = "it changed while it was read"
	WhySpecial    Why = "it isn't a file or a link"
	WhyIgnored    Why = "it is ignored, and large"
	WhyMany       Why = "it holds very many ignored files"
	WhyCommits    Why = "what is committed in a repository inside the tree isn't copied"
	WhyForgotten  Why = "somebody had it forgotten"
	WhyMissing    Why = "the repository lacks something of it"
	WhyFormat     Why = "the repository names objects by SHA-256"
	WhyNever      Why = "[snapshots] never names it"
	WhyNested     Why = "it is a repository of its own that can't be read"
	WhyRefused    Why = "git doesn't work there"
)

// MaxLeftOut is how many things that were left out are named one by one. More are named by the first
// directory they lie in.
const MaxLeftOut = 100

// CollapseLeftOut sorts what was left out, and names very much of it together.
func CollapseLeftOut(all []LeftOut) []LeftOut {
	if len(all) == 0 {
		return []LeftOut{}
	}

	// Many are named together: by the reason, and the first directory they lie in.
	if len(all) > MaxLeftOut {
		var short []LeftOut
		at := map[LeftOut]int{}

		for _, l := range all {
			first, _, below := strings.Cut(l.Path, "/")
			key := LeftOut{Path: "./", Why: l.Why}
			if below {
				key.Path = first + "/"
			}

			i, ok := at[key]
			if !ok {
				i = len(short)
				at[key] = i
				short = append(short, key)
			}

			short[i].Files += max(l.Files, 1)
		}
		all = short
	}

	slices.SortFunc(all, func(a, b LeftOut) int {
		return strings.Compare(a.Path+"\x00"+string(a.Why), b.Path+"\x00"+string(b.Why))
	})
	return slices.Compact(all)
}
