package rescue

import (
	"context"

	"talkingstick/internal/workspace"
)

// Uncommitted says of files that were kept without asking git whether they had uncommitted changes: their
// bytes before a change differ from those of a commit, as git would check it out. It has no entry for a file
// of which nobody can tell that, such as one with a filter.
func (s *Store) Uncommitted(
	ctx context.Context, tree workspace.Checkout, commit string, changes []PathChange,
) (map[string]bool, error) {
	paths := pathsOf(changes)
	blobs, err := s.Git.Blobs(ctx, tree.Top, commit, paths)
	if err != nil {
		return nil, err
	}

	found := map[string]bool{}
	var differing []PathChange
	for _, c := range changes {
		switch blob, isThere := blobs[c.Path]; {
		case c.Old.Blob == "":
		case isThere && blob != c.Old.Blob: // perhaps by git's conversion of line ends
			differing = append(differing, c)
		default:
			found[c.Path] = !isThere
		}
	}

	if len(differing) == 0 {
		return found, nil
	}

	files, err := s.commitFiles(ctx, tree)
	if err != nil {
		return nil, err
	}

	// Where the blobs differ, the bytes that git would check out decide.
	then := files.readFiles(ctx, commit, pathsOf(differing))
	for _, c := range differing {
		if was := then[c.Path]; was.Mode != "" {
			found[c.Path] = fileVersionOf(was).Sum != c.Old.Blob
		}
	}

	return found, nil
}
