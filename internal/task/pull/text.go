package pull

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"talkingstick/internal/forge"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
)

// composeOffer returns the title and the text of the pull request of a task: what to do, the checks, and who
// did it.
func (q *pullRun) composeOffer(ctx context.Context) (forge.Offer, error) {
	t := q.task
	checks, err := q.requests.config.ListChecks(ctx, q.By, q.Where, t.ID)
	if err != nil {
		return forge.Offer{}, err
	}

	// What tt says comes first: the description ends where its author likes.
	title, rest := titleAndText(t)
	var b strings.Builder
	fmt.Fprintf(&b, "Task %s, by %s", t.ID, cmp.Or(t.Worker, t.SpawnedBy))
	if t.ApprovedBy != "" {
		fmt.Fprintf(&b, "; %s was approved by %s", repository.ShortCommit(t.Approved), t.ApprovedBy)
	}

	b.WriteString(".\n")

	for i, c := range checks {
		if i == 0 {
			fmt.Fprintf(&b, "\nChecks on %s:\n\n", repository.ShortCommit(c.Head))
		}

		how := "passed"
		if c.Exit != 0 {
			how = fmt.Sprintf("exit status %d", c.Exit)
		}

		fmt.Fprintf(&b, "- %s: %s\n", stick.Line(c.Name), how)
	}

	if rest != "" {
		fmt.Fprintf(&b, "\nAs %s described it:\n\n%s\n", t.SpawnedBy, rest)
	}

	// Forges refuse longer texts.
	body := b.String()
	if len(body) > maxPullText {
		body = strings.ToValidUTF8(body[:maxPullText], "") + "…\n"
	}
	return forge.Offer{Query: q.pullQuery(), Title: title, Body: body}, nil
}

// titleAndText returns the title of a task's pull request, and the part of the description that the title
// doesn't hold whole.
func titleAndText(t stick.Task) (title, text string) {
	whole := strings.TrimSpace(t.Description)
	first, rest, _ := strings.Cut(whole, "\n")
	first = stick.Line(first)
	if title = stick.Clip(first, maxPullTitle); title != first {
		rest = whole
	}
	return cmp.Or(title, t.ID), stick.Block(strings.TrimSpace(rest))
}

// maxPullTitle is how many characters of a description's first line are the title.
const maxPullTitle = 100

// maxPullText is how many bytes the text of a pull request may have.
const maxPullText = 32 << 10
