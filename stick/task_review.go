package stick

// ShortCommit is the beginning of a commit id, as people read it.
func ShortCommit(commit string) string {
	if len(commit) > 10 {
		return commit[:10]
	}
	return Clip(commit, 40)
}
