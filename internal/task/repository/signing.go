package repository

import (
	"cmp"
	"context"
	"time"

	"talkingstick/internal/config"
	"talkingstick/internal/git"
	"talkingstick/stick"
)

// How long the signature of one commit may take. A person has to type a passphrase, or to touch a key. Where
// an agent calls, nobody may see the question, and whoever runs the agent has a limit of their own.
const (
	personSignLimit = 30 * time.Second
	agentSignLimit  = 8 * time.Second
)

// CommitSigning returns how commits are signed that tt makes: as the user's git would, unless the project
// wants none.
func (rp *Repo) CommitSigning(ctx context.Context, w config.Worker) (git.Signing, error) {
	if !w.Sign {
		return git.Signing{}, nil
	}

	s, err := rp.Git.Signing(ctx, rp.Root)
	if err != nil {
		return git.Signing{}, err
	}

	// Only a person at the terminal can answer within the longer limit.
	s.Limit = agentSignLimit
	if rp.By.Person && (rp.By.As == "" || stick.AgentID(rp.By.As).Human()) {
		s.Limit = personSignLimit
	}

	s.Limit = cmp.Or(rp.Core.Config.SignLimit, s.Limit)
	return s, nil
}
