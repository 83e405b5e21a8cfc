package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"talkingstick/internal/cli/app"
	"talkingstick/internal/plainfile"
	"talkingstick/stick"
)

// links are the other names under which the program can be called.
var links = []string{"talking-stick", "bb", app.RosterName, "worker", "review-gate"}

// changeLinks creates the program's other names beside it, or removes them. It leaves alone whatever isn't a
// link to the program, and refuses to put a link in its place. With --print it only lists the names.
func changeLinks(a *app.Run, tt string, o installOptions) (changed []string, err error) {
	for _, name := range links {
		link := filepath.Join(filepath.Dir(tt), name)

		// The target is empty where there is no link.
		at, _ := os.Readlink(link)

		// A link is ours only if it leads to the program beside it.
		ours := at == filepath.Base(tt)
		switch {
		case ours != o.removing:
			continue
		case o.show:
		case o.removing:
			err = os.Remove(link)
		default:
			err = os.Symlink(filepath.Base(tt), link)
		}

		if err != nil {
			if e, ok := errors.AsType[*os.LinkError](err); ok {
				err = e.Err
			}

			return changed, stick.Errorf(stick.CodeConfigUnwritable, "%s can't be changed: %s",
				link, err.Error()).With("path", link).
				Hintf("look at what is there; tt didn't change it")
		}

		changed = append(changed, link)
	}

	return changed, nil
}

// logNpm records which entries of the npm program were removed.
func logNpm(a *app.Run, dataDir string, gone map[string]json.RawMessage) {
	if len(gone) == 0 || plainfile.MkdirAll(dataDir) != nil {
		return
	}

	f, err := plainfile.Open(filepath.Join(dataDir, "update-migrations.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return
	}

	defer f.Close()
	now := time.Now
	if a.Now != nil {
		now = a.Now
	}

	for file, entry := range gone {
		// This can't fail, because entry was just parsed.
		b, _ := json.Marshal(map[string]any{
			"at": stick.At(now()), "removed": "mcp server", "file": file, "entry": entry,
		})
		fmt.Fprintf(f, "%s\n", b)
	}
}
