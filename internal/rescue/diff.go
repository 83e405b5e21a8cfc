package rescue

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"talkingstick/internal/plainfile"
	"talkingstick/internal/rescue/manifest"
	"talkingstick/internal/rescue/workfile"
	"talkingstick/stick"
)

// Limits of a diff.
const (
	maxDiffed = 1 << 20 // bytes of a file
	maxDiff   = 1 << 20 // bytes of the whole text
)

// Diff returns how the files of a restore differ, as a unified diff: from what lies in the checkout now to
// what was rescued. Of binary and large files it only says that they differ. cut reports whether there is
// more. It fails as [Store.Restore] does.
func (s *Store) Diff(ctx context.Context, r RestoreRequest) (text string, cut bool, err error) {
	l, entries, err := s.loadChosen(ctx, r.ID, r.Paths)
	if err != nil {
		return "", false, err
	}
	data, err := l.readBlobs(ctx, manifest.BlobsOf(entries))
	if err != nil {
		return "", false, err
	}

	tree, err := workfile.Open(cmp.Or(r.Tree.Top, l.manifest.Top))
	if err != nil {
		return "", false, errNoCheckout(l.manifest, err)
	}
	defer tree.Close()

	var all strings.Builder
	for _, e := range entries {
		if e.LeftOut || e.Work == nil && e.IsSubmodule() {
			continue
		}

		if err := ctx.Err(); err != nil {
			return "", false, err
		}

		all.WriteString(diffOf(ctx, tree, e, data))
		if all.Len() > maxDiff {
			return cutLines(all.String(), maxDiff), true, nil
		}
	}

	return all.String(), false, nil
}

func diffOf(ctx context.Context, tree *workfile.Folders, e manifest.Entry, data map[string][]byte) string {
	name := stick.Name(e.Path).String()
	var then workfile.Content
	if e.Work != nil {
		then = workfile.Content{Mode: e.Work.Mode, Data: data[e.Work.Blob]}
	}

	now, err := tree.ReadContent(ctx, string(e.Path), maxDiffed)
	switch {
	case err != nil && !isAbsent(err):
		return fmt.Sprintf("%s can't be compared: %v\n", name, plainfile.CauseOf(err))
	case workfile.IsSameContent(now, then):
		return ""
	case len(then.Data) > maxDiffed:
		return fmt.Sprintf("%s differs: it is large\n", name)
	case bytes.IndexByte(now.Data, 0) >= 0 || bytes.IndexByte(then.Data, 0) >= 0:
		return fmt.Sprintf("%s differs: it is binary\n", name)
	}

	shown := quoteUnprintable(string(e.Path))
	from, to := "now/"+shown, "rescued/"+shown
	var b strings.Builder

	// Without a mode, that side has no file.
	switch {
	case now.Mode == "":
		from = "/dev/null"
	case then.Mode == "":
		to = "/dev/null"
	case now.Mode != then.Mode:
		fmt.Fprintf(&b, "%s: mode %s, rescued %s\n", name, now.Mode, then.Mode)
	}

	b.Write(diff.Diff(from, now.Data, to, then.Data))
	return b.String()
}

// quoteUnprintable quotes a path that has characters which no line should have.
func quoteUnprintable(path string) string {
	if q := strconv.Quote(path); q != `"`+path+`"` {
		return q
	}
	return path
}

// cutLines cuts a text at the end of a line.
func cutLines(text string, most int) string {
	text = text[:most]
	return text[:strings.LastIndexByte(text, '\n')+1]
}
