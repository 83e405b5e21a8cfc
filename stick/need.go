package stick

import (
	"slices"
	"strings"
)

// plainWords says a cause by its own name.
func (c Cause) plainWords() Words {
	isCause := slices.ContainsFunc(Causes, func(row CauseInfo) bool { return row.Cause == c })
	if !isCause {
		return Wordsf("%s", c)
	}
	return Words(strings.ReplaceAll(string(c), "_", " "))
}

// Words says why the stick can be taken over, as a part of a sentence.
func (c Cause) Words() Words {
	switch c {
	case OwnerGone:
		return "its process has ended"
	case RecipientGone:
		return "the stick is reserved for it, and its process has ended"
	case OwnerTimeout:
		return "its lease has run out"
	case OwnerIdle:
		return "it has done nothing for too long"
	case ClaimTimeout:
		return "it hasn't taken up its turn in time"
	}
	return Wordsf("%s", c)
}
