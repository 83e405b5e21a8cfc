package workspace

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
)

// Head reads the commit and the branch of the checkout at top. branch is empty when HEAD is detached. ok is
// false when files alone don't tell: outside git, on a branch without commits, or in a repository that
// doesn't store refs as files.
func Head(top string) (commit, branch string, ok bool) {
	git, ok := dotGit(top)
	if !ok || git == "" {
		return "", "", false
	}

	b, err := os.ReadFile(filepath.Join(git, "HEAD"))
	if err != nil {
		return "", "", false
	}

	// A detached HEAD has the commit itself.
	head := strings.TrimSpace(string(b))
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if !symbolic {
		return head, "", isCommit(head)
	}

	// A ref is found where git looks for it: in the worktree, in its repository, among the packed ones.
	common, _ := commonDir(git)
	commit = looseRef(git, ref)
	if commit == "" {
		commit = looseRef(common, ref)
	}
	if commit == "" {
		commit = packedRef(common, ref)
	}

	return commit, strings.TrimPrefix(ref, "refs/heads/"), isCommit(commit)
}

func looseRef(git, ref string) string {
	// A name that leads out of the git directory is no ref.
	if !filepath.IsLocal(ref) {
		return ""
	}

	b, err := os.ReadFile(filepath.Join(git, ref))
	if err != nil {
		return ""
	}

	return strings.TrimSpace(string(b))
}

func packedRef(common, ref string) string {
	f, err := os.Open(filepath.Join(common, "packed-refs"))
	if err != nil {
		return ""
	}
	defer f.Close()

	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if commit, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref {
			return commit
		}
	}

	return ""
}

// isCommit reports whether s looks like a commit's id.
func isCommit(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) < 0
}

// DefaultBranches returns the default branches of the remotes of the checkout at top, as git clone or git
// remote set-head found them. Where none is known, these are main and master.
func DefaultBranches(top string) (names []string) {
	git, ok := dotGit(top)
	if !ok || git == "" {
		return nil
	}

	common, _ := commonDir(git)

	remotes, _ := os.ReadDir(filepath.Join(common, "refs", "remotes"))
	for _, r := range remotes {
		b, err := os.ReadFile(filepath.Join(common, "refs", "remotes", r.Name(), "HEAD"))
		branch, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "ref: refs/remotes/"+r.Name()+"/")
		if ok && err == nil {
			names = append(names, branch)
		}
	}

	if len(names) == 0 {
		return []string{"main", "master"}
	}

	return names
}
