package task

import (
	"fmt"
	"strings"

	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// maxPrompt is how many bytes of a prompt comments take at most.
const maxPrompt = 32 << 10

// commentsText writes comments with the lines around them, as a message or a prompt has them: whole ones, in
// at most most bytes. If they don't all fit, it says how many there are beside them, and where.
func commentsText(task string, comments []stick.Comment, most int) string {
	text := ""
	rest := func(n int) string {
		more := ""
		if text != "" {
			more = " more"
		}
		return fmt.Sprintf("%s%s: %s\n", stick.Count(n, "comment"), more, stick.Cmd("tt task show <task_id>", task))
	}

	for i, c := range comments {
		// Room is kept for the line that says how many are left out.
		one, left := commentText(c), len(comments)-i-1
		reserve := 0
		if left > 0 {
			reserve = len(rest(left)) + 1
		}
		if len(text)+len(one)+reserve > most {
			if more := rest(left + 1); len(text)+len(more) <= most {
				text += more
			}
			return text
		}

		text += one + "\n"
	}

	return strings.TrimSuffix(text, "\n")
}

// commentText writes one comment. A bar stands before the lines of the file, and the mark of a quotation before
// those of the comment, so that neither can look like the other, or like another comment.
func commentText(c stick.Comment) string {
	var b strings.Builder
	side := ""
	if c.Old {
		side = ", before the change"
	}

	fmt.Fprintf(&b, "Comment %d by %s on %s%s (commit %s):\n",
		c.ID, stick.Name(c.Author), stick.Name(c.At()), side, repository.ShortCommit(c.From()))
	for _, l := range c.Around {
		b.WriteString("| " + strings.TrimRight(CodeText(c, l), " \t") + "\n")
	}

	writeQuoted(&b, c.Body)
	return b.String()
}

// CodeText writes a line around a comment: a mark if the comment is about it, its number, how the task
// changes it, and its text.
func CodeText(c stick.Comment, l stick.SourceLine) string {
	mark := " "
	if c.Lines[0] <= l.Number && l.Number <= c.Lines[1] {
		mark = ">"
	}

	sign := l.Sign
	if sign == "" {
		sign = " "
	}
	return fmt.Sprintf("%s%5d %s %s", mark, l.Number, sign, stick.Patch(strings.TrimRight(l.Text, "\r")))
}

// openComments returns those of the comments that a worker has to deal with.
func openComments(all []stick.Comment) (open []stick.Comment) {
	for _, c := range all {
		if c.Open() {
			open = append(open, c)
		}
	}
	return open
}
