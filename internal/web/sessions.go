package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// session is what a browser has that was let in: a path, below which it finds all pages, and a cookie, which
// it sends there and nowhere else. Cookies know hosts and paths, but no ports: one for all paths would go to
// every server of this machine, such as one by which an agent shows what it has built. Nobody else's page
// knows the path.
type session struct {
	path   string // the first part of the paths of all its pages, without slashes
	cookie string
}

func newSession() session { return session{rand.Text(), rand.Text() + rand.Text()} }

func (sess session) sum() sum { return sha256.Sum256([]byte(sess.path + "/" + sess.cookie)) }

// cookieName is the name of all sessions' cookies. Their paths tell them apart.
const cookieName = "tt_session"

// keys know who may come in. An invitation is a token in an address: the first browser that shows it gets a
// session, and the invitation is over. Only sums are kept, so that looking one up tells nothing by the time
// that it takes.
type keys struct {
	now    func() time.Time
	folder sessionFolder

	mu       sync.Mutex // guards the rest
	address  string     // on which the server listens; empty before it does
	key      string     // of proofs
	invites  map[sum]time.Time
	sessions []openSession // the oldest first
	ended    chan struct{} // closed when a session ends; then there is another one
}

// openSession is a session that isn't over.
type openSession struct {
	sum  sum
	used time.Time // at most [noteUse] before its last use
}

type sum = [sha256.Size]byte

const (
	maxSessions = 64 // browsers at a time; a further one ends the session that nobody has used for longest
	maxInvites  = 16

	inviteFor  = 10 * time.Minute    // an invitation that a page has made
	sessionFor = 14 * 24 * time.Hour // a session that nobody uses
	noteUse    = time.Hour           // how often a use is noted
)

// isOver reports whether a session that was used last at some time is over.
func isOver(used, now time.Time) bool { return now.Sub(used) >= sessionFor }

func newKeys(now func() time.Time, f sessionFolder) *keys {
	// The other clock stands still while the machine sleeps.
	wall := func() time.Time { return now().Round(0) }
	return &keys{now: wall, folder: f, key: newKey(), invites: map[sum]time.Time{}, ended: make(chan struct{})}
}

// listenOn reads the sessions of a server that listened on the same address before.
func (k *keys) listenOn(address string) {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.address = address
	key, sessions := k.folder.readServer(address)
	if key != "" {
		k.key = key
	}

	k.sessions = sessions
}

// makeInvite makes a token that is good once, for so long; 0 for as long as the server runs.
func (k *keys) makeInvite(ttl time.Duration) string {
	token := rand.Text()
	k.mu.Lock()
	defer k.mu.Unlock()

	// One with a time makes room first: pages could make any number of them.
	until := time.Time{}
	if ttl > 0 {
		until = k.now().Add(ttl)
		k.dropInvite()
	}

	k.invites[sha256.Sum256([]byte(token))] = until
	return token
}

// dropInvite makes room for an invitation: those that are over go, and then the one that would end first. The
// first invitation of all stays.
func (k *keys) dropInvite() {
	var first sum
	for s, until := range k.invites {
		if until.IsZero() {
			continue
		}
		if k.now().After(until) {
			delete(k.invites, s)
		} else if first == (sum{}) || until.Before(k.invites[first]) {
			first = s
		}
	}

	if len(k.invites) >= maxInvites {
		delete(k.invites, first)
	}
}

// redeemInvite ends an invitation, and returns the session that it was for. ok is false for a token that is
// none, was used, or is too old.
func (k *keys) redeemInvite(token string) (sess session, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()

	s := sha256.Sum256([]byte(token))
	until, ok := k.invites[s]
	delete(k.invites, s)
	if !ok || !until.IsZero() && k.now().After(until) {
		return session{}, false
	}

	sess = newSession()

	// A further browser is let in at the cost of one that nobody uses.
	k.dropOver()
	k.sessions = append(k.sessions, openSession{sess.sum(), k.now()})
	if len(k.sessions) > maxSessions {
		k.dropLeastUsed()
	}

	k.folder.keepServer(k.address, k.key, k.sessions)
	return sess, true
}

// endSession ends a session.
func (k *keys) endSession(sess session) {
	k.mu.Lock()
	defer k.mu.Unlock()

	ended := sess.sum()
	k.sessions = slices.DeleteFunc(k.sessions, func(o openSession) bool { return o.sum == ended })
	k.folder.keepServer(k.address, k.key, k.sessions)
	k.announceEnd()
}

// watchEnds returns a channel that is closed when a session ends, whichever it is.
func (k *keys) watchEnds() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// announceEnd tells those who wait for the end of a session. Its caller has the lock.
func (k *keys) announceEnd() {
	close(k.ended)
	k.ended = make(chan struct{})
}

// dropLeastUsed drops the session that nobody has used for longest. Its caller has the lock.
func (k *keys) dropLeastUsed() {
	least := slices.MinFunc(k.sessions, func(a, b openSession) int { return a.used.Compare(b.used) })
	k.sessions = slices.DeleteFunc(k.sessions, func(sess openSession) bool { return sess.sum == least.sum })
	k.announceEnd()
}

// dropOver drops the sessions that are over. Its caller has the lock.
func (k *keys) dropOver() {
	now := k.now()
	k.sessions = slices.DeleteFunc(k.sessions, func(sess openSession) bool { return isOver(sess.used, now) })
}

// useSession reports whether a session is open, and notes that it is used.
func (k *keys) useSession(sess session) bool {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.dropOver()

	want := sess.sum()
	i := slices.IndexFunc(k.sessions, func(o openSession) bool { return o.sum == want })
	if i < 0 {
		return false
	}

	if now := k.now(); now.Sub(k.sessions[i].used) >= noteUse {
		k.sessions[i].used = now
		k.folder.keepServer(k.address, k.key, k.sessions)
	}

	return true
}

// sessionKey is the key by which the context of a request has its session.
type sessionKey struct{}

// withSession returns a request that knows its session.
func withSession(r *http.Request, sess session) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), sessionKey{}, sess))
}

// sessionIn returns the session of a request to a page.
func sessionIn(r *http.Request) session {
	sess, _ := r.Context().Value(sessionKey{}).(session)
	return sess
}

// sessionOf finds the open session from whose browser a request comes.
func (k *keys) sessionOf(r *http.Request) (sess session, ok bool) {
	path, _, below := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !below {
		return session{}, false
	}

	// Another server of this machine may have set a cookie of this name, too.
	for _, c := range r.CookiesNamed(cookieName) {
		if sess := (session{path, c.Value}); k.useSession(sess) {
			return sess, true
		}
	}

	return session{}, false
}
