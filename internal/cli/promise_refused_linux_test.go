package cli_test

import (
	"os"
	"strings"
	"testing"
)

// TestARepositoryThatGitRefuses: git reads nothing of a repository that another user owns, so nothing there
// can be kept. A command that takes work is refused once, and says why.
func TestARepositoryThatGitRefuses(t *testing.T) {
	w := newWard(t, "ann", "bob")
	w.build()
	if os.Getuid() == 0 {
		w.person("chown -R 65534 .")
	} else {
		t.Log("only root can give the repository to another user: it is read")
	}

	for _, command := range []string{"rm new.txt", "rm person.txt; rm -rf sub"} {
		first := w.calls("ann", command)
		refused := strings.Contains(first.denied, "because it belongs to another user")
		if root := os.Getuid() == 0; refused != root {
			t.Errorf("%s: %+v", command, first)
		}
		if again := w.calls("ann", command); again.denied != "" {
			t.Errorf("%s a second time: %+v", command, again)
		}
	}
}
