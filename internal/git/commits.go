package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// NewCommit is a commit that some refs don't have.
type NewCommit struct {
	ID      string
	Short   string
	Parents []string
	Subject string
}

// NewCommits lists commits that can be reached from tips and not from others, parents first: the newest most
// of them. others may have options that stand for many refs, such as --branches. What the repository doesn't
// have counts as nothing.
func (c Client) NewCommits(ctx context.Context, dir string, tips, others []string, most int) ([]NewCommit, error) {
	var out bytes.Buffer
	args := slices.Concat([]string{
		"log", "-z", "--reverse", "--topo-order", "--no-show-signature", "--no-color", "--no-decorate",
		"--format=%H%x01%h%x01%P%x01%s",
		fmt.Sprintf("--max-count=%d", most), "--ignore-missing",
	}, tips, []string{"--not"}, others, []string{"--"})

	if err := c.runReadOnly(ctx, dir, &out, args...); err != nil {
		return nil, err
	}

	var all []NewCommit
	for _, line := range splitNUL(out.String()) {
		// The subject is the last field, so that it may hold anything.
		f := strings.SplitN(line, "\x01", 4)
		if len(f) != 4 {
			return nil, fmt.Errorf("read git log: %q", line)
		}

		all = append(all, NewCommit{ID: f[0], Short: f[1], Parents: strings.Fields(f[2]), Subject: f[3]})
	}

	return all, nil
}
