package queue

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"talkingstick/internal/engine/core"
	"talkingstick/internal/plainfile"
	"talkingstick/internal/store"
	"talkingstick/internal/task/repository"
	"talkingstick/stick"
	"talkingstick/stick/tasks"
)

// landerVariables are the variables that a lander keeps: what a gate needs to find its programs, and git to
// sign and to reach a remote. Those that end in an underscore stand for all that begin so.
var landerVariables = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TZ", "TMPDIR", "LANG", "LC_", "XDG_",
	"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME", "GPG_AGENT_INFO", "GPG_TTY",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS", "GIT_CONFIG_", "GIT_AUTHOR_", "GIT_COMMITTER_",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
	"TALKING_STICK_DATA_DIR", "TALKING_STICK_DATABASE_URL",
	"SYSTEMROOT", "SystemRoot", "COMSPEC", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
}

// landerEnviron is the environment of a lander: of an environment what it keeps, and what else the project's
// gate needs.
func landerEnviron(environ, more []string) (kept []string) {
	keeps := func(name string) bool {
		return slices.Contains(more, name) || slices.ContainsFunc(landerVariables, func(v string) bool {
			return v == name || strings.HasSuffix(v, "_") && strings.HasPrefix(name, v)
		})
	}

	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		if keeps(name) {
			kept = append(kept, v)
		}
	}

	return kept
}

// StoreEnviron stores the caller's environment for the landers of a repository: a lander may be started from
// anywhere. An agent's is stored only where there is none yet. more are the names that the project adds.
func (q *Queue) StoreEnviron(rp *repository.Repo, more []string) error {
	path := rp.QueuePath("env")
	if _, err := os.Stat(path); err == nil && !rp.By.ActsAsPerson() {
		return nil
	}
	if err := rp.MakeLockDir(); err != nil {
		return err
	}

	b, err := json.Marshal(landerEnviron(rp.Core.Config.Environ, more))
	if err != nil {
		return err
	}
	return plainfile.Replace(path, b)
}

// duePath is the file that says that a lander has something to do in a room on this host, and when the last one
// was started: its time. It is derived: the database knows what is approved.
func (q *Queue) duePath(room stick.RoomID) string {
	sum := sha256.Sum256([]byte(room))
	return filepath.Join(q.config.Dir, "tasks", "due-"+hex.EncodeToString(sum[:8]))
}

// markDue notes that a lander has something to do, and is started now.
func (q *Queue) markDue(room stick.RoomID, root string) error {
	return plainfile.Replace(q.duePath(room), []byte(root))
}

// dropDue notes that a lander has nothing to do.
func (q *Queue) dropDue(room stick.RoomID) error {
	if err := os.Remove(q.duePath(room)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// WakeLander has a lander merge what is approved. The note says why that can't begin from here; it is empty if
// it begins.
func (q *Queue) WakeLander(rp *repository.Repo, room stick.RoomID, retry bool) stick.Words {
	if err := rp.MakeLockDir(); err != nil {
		return cantStart(err)
	}

	// Whoever asks wants to hear what holds a task up now.
	if retry {
		_ = os.Remove(rp.QueuePath("held"))
	}

	// The mark comes first: where this process can't start one, a later command can.
	if err := q.markDue(room, rp.Root); err != nil {
		return cantStart(err)
	}
	if q.config.StartLander == nil {
		return stick.Wordsf("from here tt can't start the process that merges it; the next command of tt in a terminal does, or now: %s",
			stick.Cmd("tt task merge --wait"))
	}

	// One that is just about to end may not have seen the approval, so another one is started in any case.
	rp.KillPoint("lander: marked")
	if err := q.startLander(rp, LanderOrder{RoomID: room, Root: rp.Root, Retry: retry}); err != nil {
		return cantStart(err)
	}
	return ""
}

// cantStart is the note for a lander that couldn't be started.
func cantStart(err error) stick.Words {
	return stick.Wordsf("tt couldn't start the process that merges it (%s); to merge it: %s",
		stick.AsError(err).Words(), stick.Cmd("tt task merge --all"))
}

// startLander starts a lander.
func (q *Queue) startLander(rp *repository.Repo, order LanderOrder) error {
	order.Output = rp.QueuePath("log")
	b, err := plainfile.Read(rp.QueuePath("env"))
	if err == nil {
		err = json.Unmarshal(b, &order.Environ)
	}
	if err != nil {
		order.Environ = landerEnviron(rp.Core.Config.Environ, nil)
	}

	return q.config.StartLander(order)
}

// KeepLanding starts the landers of rooms again that have died before they were done. It is called after each
// commit that has changed a room, and costs nothing where no lander has anything to do.
func (q *Queue) KeepLanding(rooms []stick.RoomID) {
	if q.config.StartLander == nil {
		return
	}

	for _, id := range rooms {
		info, err := os.Stat(q.duePath(id))
		if err != nil {
			continue
		}

		root, err := plainfile.Read(q.duePath(id))
		if err != nil {
			continue
		}

		rp := q.config.Repos.RepoAt(string(root))
		runs := rp.LockRunner(repository.QueueLock, "") != nil
		if !tasks.LanderDue(true, runs, stick.At(info.ModTime()), stick.At(time.Now())) {
			continue
		}

		// The command that has committed has succeeded, whatever becomes of this.
		if q.markDue(id, string(root)) == nil {
			_ = q.startLander(rp, LanderOrder{RoomID: id, Root: string(root)})
		}
	}
}

// Landing is what a lander does or couldn't do on this host.
type Landing struct {
	Runner *repository.Runner `json:"runner,omitempty"` // its process; absent if none runs
	Held   []HeldTask         `json:"held,omitempty"`   // what it couldn't merge, and why
}

// ReadLanding reads what a lander does in a repository on this host. It needs no git and no database.
func ReadLanding(rp *repository.Repo) Landing {
	res := Landing{Runner: rp.LockRunner(repository.QueueLock, "")}
	for _, h := range readHeldFile(rp) {
		res.Held = append(res.Held, h.HeldTask)
	}
	return res
}

// requireIdleStick refuses to move the files of the shared tree for an approver while somebody has the stick.
func (l landing) requireIdleStick(ctx context.Context, checkout string) error {
	return l.Read(ctx, func(tx *store.Tx, _ *core.Probes, r stick.Room, _ core.Identity) error {
		if r.Turn.State != stick.Owned {
			return nil
		}
		return stick.Errorf(stick.CodeNotYourTurn, "%s is checked out in %s, and %s",
			l.task.Integration, checkout, stick.Holds(r.Turn.Owner, tx.Now().Sub(r.Turn.GrantedAt))).
			With("task_id", l.task.ID).With("current_owner", r.Turn.Owner).
			Hintf("wait until it is released; or let tasks be merged into a branch that nobody has checked out: %s",
				stick.Cmd("tt task init --branch <branch>", "integration"))
	})
}
