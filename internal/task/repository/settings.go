package repository

import (
	"context"
	"sync"

	"talkingstick/internal/config"
)

// settingsFile is the project's settings as they are in the commit in which they were read last. What a commit has
// never changes.
type settingsFile struct {
	mu     sync.Mutex
	commit string
	text   []byte
}

// keep notes what a commit has. A name that isn't a commit's own may soon mean another one.
func (f *settingsFile) keep(commit string, text []byte) {
	if len(commit) < shortestID {
		return
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	f.commit, f.text = commit, text
}

// textIn returns what is known of a commit.
func (f *settingsFile) textIn(commit string) (text []byte, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text, f.commit != "" && f.commit == commit
}

// shortestID is the length of a commit's full id in the shorter of git's two formats.
const shortestID = 40

// ReadConfig reads the project's settings from a commit.
func (rp *Repo) ReadConfig(ctx context.Context, commit string) (config.Config, error) {
	text, known := rp.settings.textIn(commit)
	if known {
		return config.Parse(text)
	}

	text, _, err := rp.Git.ReadFile(ctx, rp.Root, commit, config.FileName)
	if err != nil {
		return config.Config{}, err
	}

	rp.settings.keep(commit, text)
	return config.Parse(text)
}

// TaskSettings reads the project's settings about tasks from a commit.
func (rp *Repo) TaskSettings(ctx context.Context, commit string) (config.Gate, config.Worker, error) {
	c, err := rp.ReadConfig(ctx, commit)
	return c.Gate, c.Worker, err
}
