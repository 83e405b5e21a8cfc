package app

import (
	"unicode"
	"unicode/utf8"

	"talkingstick/internal/engine/guard/ledger"
	"talkingstick/internal/term"
	"talkingstick/stick"
)

// MaxNextAction is how much of what the last holder wanted next a briefing shows, in characters. The grant
// has all of it.
const MaxNextAction = 160

// NotedWork names the agents of which uncommitted work is noted, with how many files. It is empty if there
// are none.
func NotedWork(n *ledger.NotedWork) stick.Words {
	if n == nil || len(n.Of) == 0 {
		return ""
	}

	var of []stick.Words
	for i, w := range n.Of {
		files := stick.Wordsf("%d", w.Files)

		// Only the first number says of what it is.
		if i == 0 {
			files = stick.Count(w.Files, "uncommitted file")
		}

		of = append(of, stick.Wordsf("%s of %s", files, w.Agent))
	}

	return stick.JoinWords(of, ", ")
}

// UpperFirst begins a sentence of its own with a capital letter.
func UpperFirst(s stick.Words) stick.Words {
	r, size := utf8.DecodeRuneInString(string(s))
	return stick.Words(unicode.ToUpper(r)) + s[size:]
}

// SizeText writes a size as people say it: 812 bytes, 4.1 KB, 50 MB.
func SizeText(n int64) stick.Words {
	size, units := float64(n), []string{"KB", "MB", "GB"}
	if n < 1000 {
		return stick.Count(n, "byte")
	}

	// Just below the next unit, rounding would give 1000.
	for i, unit := range units {
		size /= 1000
		if size < 999.5 || i == len(units)-1 {
			return stick.Wordsf("%.3g %s", size, unit)
		}
	}

	return ""
}

// PathNames names files in a sentence.
func PathNames(names []string) stick.Words { return stick.Names(names, len(names)) }

// AlreadyText is what a line says where the same had been done before.
func AlreadyText(yes bool) stick.Words {
	if yes {
		return " already"
	}
	return ""
}

// CauseText says in words why the stick can be taken over, or why it was.
func CauseText(c stick.Cause) stick.Words {
	switch c {
	case stick.OwnerGone:
		return "the holder's process has ended"
	case stick.OwnerTimeout:
		return "the holder's lease has run out"
	case stick.OwnerIdle:
		return "the holder is alive, but does nothing"
	case stick.ClaimTimeout:
		return "the stick was offered, but not claimed in time"
	case stick.RecipientGone:
		return "the process of the recipient has ended"
	case stick.OperatorRequested:
		return "a person asked for it"
	}

	return stick.Wordsf("%s", c)
}

// CommitText names a commit with its branch.
func CommitText(commit, branch string) stick.Words {
	if branch == "" {
		return term.ShortCommit(commit)
	}
	return term.ShortCommit(commit) + stick.Wordsf(" on %s", branch)
}
