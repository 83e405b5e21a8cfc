package roster

import (
	"context"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/store"
	"talkingstick/stick"
)

// WhoamiParams asks who the caller is.
type WhoamiParams struct {
	Caller  core.Caller `json:"-"`
	Explain bool        `json:"explain,omitempty"` // also say how that was found
}

// WhoamiResult is who the caller is, and how that was found.
type WhoamiResult struct {
	AgentID   stick.AgentID  `json:"agent_id"`
	Name      string         `json:"name,omitempty"` // what people call it, where that isn't its id
	Harness   string         `json:"harness"`
	SessionID string         `json:"session_id,omitempty"`
	Terminal  string         `json:"terminal,omitempty"`
	Process   *stick.Process `json:"process,omitempty"`
	Proves    stick.Proof    `json:"process_proves,omitempty"`
	Known     bool           `json:"known"` // the session was seen before
	Note      stick.Words    `json:"note,omitempty"`
	Explain   []stick.Words  `json:"explain,omitempty"`
}

// Whoami names the caller. It writes nothing. It fails with [stick.CodeIdentityMismatch].
func (ro *Roster) Whoami(ctx context.Context, p WhoamiParams) (WhoamiResult, error) {
	var id core.Identity
	var name string
	identify := func(tx *store.Tx, probes *core.Probes) (err error) {
		if id, err = core.Identify(tx, probes, p.Caller); err != nil {
			return err
		}
		name, err = tx.NameOf(id.Agent)
		return err
	}

	db, err := ro.core.Open(ctx, false)
	switch err {
	case nil:
		err = ro.core.View(ctx, db, p.Caller, identify)
	case store.ErrAbsent:
		id, err = ro.core.IdentifyUnrecorded(p.Caller), nil
	}
	if err != nil {
		return WhoamiResult{}, err
	}

	by := p.Caller
	res := WhoamiResult{
		AgentID: id.Agent, Name: name,
		Harness: by.Harness, SessionID: by.SessionID, Terminal: by.Terminal, Proves: by.Proof,
		Known: id.Session.Key != "" && !id.Unrecorded, Note: id.Note,
	}

	if !by.Process.IsZero() {
		res.Process = &by.Process
	}

	if p.Explain {
		res.Explain = append(append([]stick.Words{}, by.Explain...), id.Explain...)
	}

	return res, nil
}
