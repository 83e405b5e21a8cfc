package rescue

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"talkingstick/internal/git"
	"talkingstick/internal/testenv"
	"talkingstick/stick"
)

func TestMain(m *testing.M) {
	if order := os.Getenv("TT_TEST_RESCUE"); order != "" {
		os.Exit(child(order))
	}
	os.Exit(testenv.Run(m))
}

// order is what a child process does: a rescue, and perhaps a restore after it. It dies at the time when it
// passes Point for the N-th time.
type order struct {
	Dir     string
	Limits  Limits
	Request Request
	Restore string // an id; empty for a rescue
	Files   bool   // only the files that the request names
	Forget  string // a path
	Commits bool   // the commits that only the repository has
	Prune   stick.Time
	Point   string
	N       int
}

// died is the exit status of a child that died where it should.
const died = 9

func child(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Println(err)
		return 1
	}
	s := &Store{Dir: o.Dir, Git: git.Client{}, Limits: o.Limits, Kill: func(point string) {
		if point == o.Point {
			if o.N--; o.N == 0 {
				os.Exit(died)
			}
		}
	}}
	var err error
	switch {
	case o.Restore != "":
		_, err = s.Restore(context.Background(), RestoreRequest{ID: o.Restore})
	case o.Prune != 0:
		s.Prune(context.Background(), o.Prune)
	case o.Forget != "":
		_, err = s.ForgetPath(context.Background(), o.Request.Tree.Common, o.Forget)
	case o.Commits:
		_, err = s.KeepCommits(context.Background(), o.Request.Tree.Common)
	case o.Files:
		_, err = s.KeepFiles(context.Background(), o.Request)
	default:
		_, err = s.Take(context.Background(), o.Request)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}
