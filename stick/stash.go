package stick

import (
	"strings"
)

// What stands after an entry in edits.StashUsed.
const (
	StashOf       = " of "
	StashFrom     = ", made in "
	StashOfNobody = ", of which nobody has noted who made it, maybe a person's"
)

// stashWords tells our words in an entry of edits.StashUsed from those of others.
func stashWords(said string) Words {
	if entry, ok := strings.CutSuffix(said, StashOfNobody); ok {
		return CutName(entry, maxShownName) + StashOfNobody
	}
	for _, between := range []string{StashFrom, StashOf} {
		if i := strings.LastIndex(said, between); i > 0 {
			return CutName(said[:i], maxShownName) + Words(between) + CutName(said[i+len(between):], maxShownName)
		}
	}
	return CutName(said, maxShownName)
}

// stashList lists entries as [Names] does.
func stashList(all []string) Words {
	shown := make([]Words, min(len(all), MaxDenied))
	for i := range shown {
		shown[i] = stashWords(all[i])
	}
	list := JoinWords(shown, ", ")
	if more := len(all) - len(shown); more > 0 {
		list += Wordsf(" and %d more", more)
	}
	return list
}
