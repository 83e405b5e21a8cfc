package web

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
)

// proof is how an open tab finds out whether its server is back before it sends anything of its session. When
// a server has ended, whoever listens on its port next gets what the tab asks for, path and cookie with it,
// and could use both when the server is back. So the tab asks a question first, without its session, to which
// only a server with the same key knows the answer. Each stream brings another question.
type proof struct {
	Ask    string `json:"ask"`
	Answer string `json:"answer"`
}

func newKey() string { return rand.Text() + rand.Text() }

// newProof returns a question that nobody has been asked, with its answer.
func (k *keys) newProof() proof {
	ask := rand.Text()
	return proof{ask, k.answerProof(ask)}
}

// answerProof answers a question. Anybody may ask.
func (k *keys) answerProof(ask string) string {
	k.mu.Lock()
	defer k.mu.Unlock()

	mac := hmac.New(sha256.New, []byte(k.key))
	mac.Write([]byte(ask))
	return hex.EncodeToString(mac.Sum(nil))
}

// Proof is a question for a page that keeps itself up to date.
func (v *view) Proof() proof { return v.s.keys.newProof() }
