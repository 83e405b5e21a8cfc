package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
)

// sessionFolder keeps the sessions of a caller's servers, in a file for each address, so that tabs go on when
// a server is started again. A file has sums, which let nobody in. What can't be read or written is left out:
// then a browser needs another address.
type sessionFolder struct {
	dir    string // empty keeps nothing
	caller string
}

// newSessionFolder returns the folder of a caller. Who was let in by an agent's server has no session in a
// person's.
func newSessionFolder(dir string, by core.Caller) sessionFolder {
	return sessionFolder{dir, strings.Join([]string{by.User, by.As, by.Seed()}, "\n")}
}

// keptServer is what a file says.
type keptServer struct {
	Caller   string        `json:"caller"`
	Address  string        `json:"address"` // on which the server listened
	Key      string        `json:"key"`     // see [proof]; it lets nobody in
	Sessions []keptSession `json:"sessions"`
}

type keptSession struct {
	Sum  string    `json:"sum"` // SHA-256, in hexadecimal digits
	Used time.Time `json:"used"`
}

const keptSuffix = ".json"

func (f sessionFolder) filePath(address string) string {
	name := sha256.Sum256([]byte(f.caller + "\n" + address))
	return filepath.Join(f.dir, hex.EncodeToString(name[:16])+keptSuffix)
}

// readServer returns the key and the sessions of the server on an address. The key is empty if there is none.
func (f sessionFolder) readServer(address string) (key string, open []openSession) {
	if f.dir == "" {
		return "", nil
	}

	// Another server's file isn't used, even if its name is the same.
	kept, err := readKept(f.filePath(address))
	if err != nil || kept.Caller != f.caller || kept.Address != address {
		return "", nil
	}

	for _, sess := range kept.Sessions {
		digits, err := hex.DecodeString(sess.Sum)
		if err != nil || len(digits) != len(sum{}) {
			continue
		}

		open = append(open, openSession{sum(digits), sess.Used})
	}

	return kept.Key, open
}

// keepServer keeps the key and the sessions of the server on an address, instead of those of before.
func (f sessionFolder) keepServer(address, key string, open []openSession) {
	if f.dir == "" {
		return
	}

	kept := keptServer{Caller: f.caller, Address: address, Key: key, Sessions: []keptSession{}}
	for _, sess := range open {
		kept.Sessions = append(kept.Sessions, keptSession{hex.EncodeToString(sess.sum[:]), sess.used.UTC()})
	}

	// If it can't be written, browsers have to be let in again after the next start.
	text, err := json.Marshal(kept)
	if err == nil && plainfile.MkdirAll(f.dir) == nil {
		_ = plainfile.Replace(f.filePath(address), text)
	}
}

// usedAddresses returns where the caller's servers have let browsers in, the last one first. Files of which
// all sessions are over go.
func (f sessionFolder) usedAddresses(now time.Time) (found []string) {
	files, err := os.ReadDir(f.dir)
	if err != nil {
		return nil
	}

	used := map[string]time.Time{}
	for _, file := range files {
		path := filepath.Join(f.dir, file.Name())
		if filepath.Ext(path) != keptSuffix {
			continue
		}

		kept, err := readKept(path)
		if err != nil {
			continue
		}

		last := kept.lastUse()

		// Files of other callers go as well, once nobody can use them.
		switch {
		case isOver(last, now):
			_ = os.Remove(path)
		case kept.Caller == f.caller:
			found, used[kept.Address] = append(found, kept.Address), last
		}
	}

	slices.SortFunc(found, func(a, b string) int { return cmp.Or(used[b].Compare(used[a]), cmp.Compare(a, b)) })
	return found
}

// lastUse returns when one of the sessions was used last.
func (k keptServer) lastUse() (last time.Time) {
	for _, sess := range k.Sessions {
		if sess.Used.After(last) {
			last = sess.Used
		}
	}

	return last
}

func readKept(path string) (k keptServer, err error) {
	text, err := plainfile.Read(path)
	if err != nil {
		return k, err
	}
	return k, json.Unmarshal(text, &k)
}

// SignOutAll ends all sessions that are kept for servers that have ended. Those of a server that runs stay.
func (s *Server) SignOutAll() error { return os.RemoveAll(s.o.Sessions) }

// Listen listens on an address. Port 0 is the one on which this caller's server has let browsers in last, if
// it is free, so that their tabs go on; else any free one. The error is that of [net.ListenConfig.Listen].
func (s *Server) Listen(ctx context.Context, address string) (net.Listener, error) {
	for _, earlier := range s.earlierAddresses(address) {
		if l, err := listenAgain(ctx, earlier); err == nil {
			return l, nil
		}
	}

	var config net.ListenConfig
	return config.Listen(ctx, "tcp", address)
}

// leftPortWait is how long a port that a server has left may still be taken: a program that is just being started has
// everything that was open here, until it runs.
const leftPortWait = 100 * time.Millisecond

// listenAgain listens on an address that a server has left.
func listenAgain(ctx context.Context, address string) (l net.Listener, err error) {
	var config net.ListenConfig
	for end := time.Now().Add(leftPortWait); ; {
		l, err = config.Listen(ctx, "tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(end) {
			return l, err
		}

		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// earlierAddresses returns addresses with a port that an address without one may mean.
func (s *Server) earlierAddresses(address string) []string {
	host, port, err := net.SplitHostPort(address)

	// Only an address with port 0 leaves the port open.
	if n, perr := strconv.Atoi(port); err != nil || perr != nil || n != 0 {
		return nil
	}

	return slices.DeleteFunc(s.keys.folder.usedAddresses(s.keys.now()), func(earlier string) bool {
		of, _, err := net.SplitHostPort(earlier)
		return err != nil || of != host
	})
}
